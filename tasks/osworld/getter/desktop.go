package getter

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"desktop-agent/internal/devtools"
	"desktop-agent/screen"
	"desktop-agent/tasks"
	"desktop-agent/tasks/asset"
	"desktop-agent/tasks/env"
)

const (
	// maxEntries is how many files a listing may have, and maxLevels how deep it goes.
	maxEntries = 20_000
	maxLevels  = 40
	// maxShortcuts is how many launchers are read, and maxShortcut of how many bytes.
	maxShortcuts = 500
	maxShortcut  = 1 << 20
	// statusLimit is how long VLC may take to answer.
	statusLimit = 10 * time.Second
)

// screenSize is vm_screen_size.
func (g *getter) screenSize(context.Context) (tasks.Value, error) {
	size := g.e.Size()
	return extent(size.X, size.Y), nil
}

func extent(width, height int) map[string]any {
	return map[string]any{"width": float64(width), "height": float64(height)}
}

// windowSize is vm_window_size: the size of the first window with
// app_class_name as its WM_CLASS, in any case.
func (g *getter) windowSize(ctx context.Context) (tasks.Value, error) {
	class, err := need(g.p, "app_class_name")
	if err != nil {
		return nil, err
	}
	windows, err := g.e.Windows(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range windows {
		// Tasks know Chromium as Google Chrome.
		chrome := isBrowser(w) && isBrowser(screen.Window{Class: class})
		if !w.Popup && (chrome || strings.EqualFold(w.Class, class)) {
			return extent(w.Box.Dx(), w.Box.Dy()), nil
		}
	}
	return nil, nil
}

// listing is list_directory: a folder as a tree of {type, name, children}, in the
// order of names.
func (g *getter) listing(ctx context.Context) (tasks.Value, error) {
	folder, err := need(g.p, "path")
	if err != nil {
		return nil, err
	}
	folder = env.Abs(folder)
	// The final slash follows a symbolic link.
	out, err := g.script(ctx, "find", strings.TrimSuffix(folder, "/")+"/", "-mindepth", "0",
		"-maxdepth", fmt.Sprint(maxLevels), "-printf", `%y%Y%P\0`)
	if err != nil || !strings.HasPrefix(out, "d") {
		return nil, err
	}
	entries := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")[1:]
	if len(entries) > maxEntries {
		return nil, fmt.Errorf("%s has more than %d files", folder, maxEntries)
	}
	slices.SortFunc(entries, func(a, b string) int { return strings.Compare(tail(a), tail(b)) })
	top := map[string]any{"type": "directory", "name": path.Base(folder), "children": []any{}}
	folders := map[string]map[string]any{".": top}
	for _, entry := range entries {
		at := strings.ToValidUTF8(tail(entry), "\uFFFD")
		parent := folders[path.Dir(at)]
		if at == "" || parent == nil {
			continue
		}
		node := map[string]any{"type": "file", "name": path.Base(at)}
		if entry[0] == 'd' || entry[1] == 'd' {
			node["type"], node["children"] = "directory", []any{}
			folders[at] = node
		}
		parent["children"] = append(parent["children"].([]any), any(node))
	}
	return top, nil
}

// tail returns the path in a line of find, after the two letters of its type.
func tail(entry string) string { return entry[min(2, len(entry)):] }

// wallpaper is vm_wallpaper: the picture behind all windows.
func (g *getter) wallpaper(ctx context.Context) (tasks.Value, error) {
	out, err := g.script(ctx, "gsettings", "get", "org.gnome.desktop.background", "picture-uri")
	if err != nil {
		return nil, err
	}
	text := strings.Trim(strings.TrimSpace(out), `'"`)
	u, err := url.Parse(text)
	if err != nil || u.Path == "" || u.Scheme != "file" && u.Scheme != "" {
		g.o.Log.InfoContext(ctx, "no wallpaper", "uri", text)
		return nil, nil
	}
	return g.config(ctx, u.Path)
}

// vlcStatus is vlc_playing_info: what VLC says that it plays, as the XML of its
// HTTP interface.
func (g *getter) vlcStatus(ctx context.Context) (tasks.Value, error) {
	dest, err := need(g.p, "dest")
	if err != nil {
		return nil, err
	}
	file, err := g.place(dest)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, statusLimit)
	defer cancel()
	client := devtools.Client(g.e.Dial)
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:8080/requests/status.xml", nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(":password")))
	response, err := client.Do(request)
	if errors.Is(err, syscall.ECONNREFUSED) {
		g.o.Log.InfoContext(ctx, "no VLC", "err", err)
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		g.o.Log.InfoContext(ctx, "no status of VLC", "err", response.Status)
		return nil, nil
	}
	if err := asset.Save(response.Body, file, g.o.MaxFile); err != nil {
		return nil, err
	}
	return tasks.File{Path: file}, nil
}

// videoTypes are the kinds of video that a player may be the default for.
var videoTypes = strings.Fields(`3gp 3gpp 3gpp2 avi divx dv fli flv mp2t mp4 mp4v-es mpeg mpeg-system msvideo ogg
	quicktime vnd.divx vnd.mpegurl vnd.rn-realvideo webm x-anim x-avi x-flc x-fli x-flv x-m4v x-matroska x-mpeg
	x-mpeg-system x-mpeg2 x-ms-asf x-ms-asf-plugin x-ms-asx x-ms-wm x-ms-wmv x-ms-wmx x-ms-wvx x-msvideo x-nsv
	x-ogm x-ogm+ogg x-theora x-theora+ogg`)

// videoPlayer is default_video_player: the launcher that most kinds of video
// open with, with a line feed as xdg-mime prints it; "unknown" if there is none.
// Each kind is asked in a command of its own: xdg-mime is a script that runs tens of
// programs, and all kinds together can take longer than one command may.
func (g *getter) videoPlayer(ctx context.Context) (tasks.Value, error) {
	count, best := map[string]int{}, "unknown"
	for _, kind := range videoTypes {
		out, err := g.script(ctx, "xdg-mime", "query", "default", "video/"+kind)
		if err != nil {
			return nil, err
		}
		if out = strings.TrimSpace(out); out == "" {
			continue
		}
		out += "\n"
		if count[out]++; count[out] > count[best] {
			best = out
		}
	}
	return best, nil
}

// shortcuts is shortcuts_on_desktop: the launchers on the desktop and what is in
// them.
func (g *getter) shortcuts(ctx context.Context) (tasks.Value, error) {
	out, err := g.script(ctx, "find", env.Home+"/Desktop/", "-maxdepth", "1", "-name", "*.desktop", "-printf", `%P\0`)
	if err != nil {
		return nil, err
	}
	found := map[string]any{}
	for name := range strings.SplitSeq(out, "\x00") {
		if name == "" || strings.Contains(name, "/") || len(found) == maxShortcuts {
			continue
		}
		text, err := g.bytes(ctx, env.Home+"/Desktop/"+name, maxShortcut)
		if err != nil {
			return nil, err
		}
		if text != nil {
			found[strings.ToValidUTF8(name, "\uFFFD")] = strings.ToValidUTF8(string(text), "\uFFFD")
		}
	}
	return found, nil
}
