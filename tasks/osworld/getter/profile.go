package getter

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path"
	"strings"

	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
)

const (
	// maxSettings is how many bytes a file of the browser's settings may have.
	maxSettings = 64 << 20
	// maxExtensions is how many extensions are looked at.
	maxExtensions = 500
	// maxManifest is how many bytes a file of an extension may have.
	maxManifest = 4 << 20
)

// profiles are the folders that the browser may keep its settings in.
var profiles = []string{env.Home + "/.config/google-chrome", env.Home + "/.config/chromium"}

// profile returns what is in a file of the browser's, nil if it is not there.
func (g *getter) profile(ctx context.Context, file string) ([]byte, error) {
	for _, folder := range profiles {
		text, err := g.bytes(ctx, folder+"/"+file, maxSettings)
		if text != nil || err != nil {
			return text, err
		}
	}
	return nil, nil
}

// settings are files of settings, the first of which counts.
type settings []map[string]any

// settings reads files of settings. Those that are missing or damaged hold nothing.
func (g *getter) settings(ctx context.Context, files ...string) (settings, error) {
	var s settings
	for _, file := range files {
		text, err := g.profile(ctx, file)
		if err != nil {
			return nil, err
		}
		var object map[string]any
		if err := json.Unmarshal(text, &object); err != nil && text != nil {
			g.o.Log.InfoContext(ctx, "no settings", "path", file, "err", err)
		}
		s = append(s, object)
	}
	return s, nil
}

// preferences reads the settings of the user.
func (g *getter) preferences(ctx context.Context) (settings, error) {
	return g.settings(ctx, "Default/Preferences", "Default/Secure Preferences")
}

// at returns the setting at a path, nil if there is none.
func (s settings) at(keys ...string) any {
	for _, object := range s {
		var value any = object
		for _, key := range keys {
			inner, _ := value.(map[string]any)
			value = inner[key]
		}
		if value != nil {
			return value
		}
	}
	return nil
}

// preference returns the value of one setting.
func (g *getter) preference(ctx context.Context, otherwise any, keys ...string) (tasks.Value, error) {
	s, err := g.preferences(ctx)
	if err != nil {
		return nil, err
	}
	if value := s.at(keys...); value != nil {
		return value, nil
	}
	return otherwise, nil
}

// truth writes a truth value as the tasks compare it.
func truth(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

// searchEngine is default_search_engine.
func (g *getter) searchEngine(ctx context.Context) (tasks.Value, error) {
	return g.preference(ctx, "Google", "default_search_provider_data", "template_url_data", "short_name")
}

// profileName is profile_name.
func (g *getter) profileName(ctx context.Context) (tasks.Value, error) {
	return g.preference(ctx, nil, "profile", "name")
}

// language is chrome_language.
func (g *getter) language(ctx context.Context) (tasks.Value, error) {
	s, err := g.settings(ctx, "Local State")
	if err != nil {
		return nil, err
	}
	if value := s.at("intl", "app_locale"); value != nil {
		return value, nil
	}
	return "en-US", nil
}

// fontSize is chrome_font_size: the sizes of letters in pixels.
func (g *getter) fontSize(ctx context.Context) (tasks.Value, error) {
	s, err := g.preferences(ctx)
	if err != nil {
		return nil, err
	}
	sizes := map[string]any{"default_fixed_font_size": 13.0, "default_font_size": 16.0, "minimum_font_size": 13.0}
	set, ok := s.at("webkit", "webprefs").(map[string]any)
	if ok && g.o.Defects.Has(sizesAsSet) {
		return set, nil
	}
	maps.Copy(sizes, set)
	return sizes, nil
}

// doNotTrack is enable_do_not_track.
func (g *getter) doNotTrack(ctx context.Context) (tasks.Value, error) {
	s, err := g.preferences(ctx)
	return truth(s.at("enable_do_not_track") == true), err
}

// enhancedSafety is enable_enhanced_safety_browsing.
func (g *getter) enhancedSafety(ctx context.Context) (tasks.Value, error) {
	s, err := g.preferences(ctx)
	return truth(s.at("safebrowsing", "enhanced") == true), err
}

// safeBrowsing is enable_safe_browsing: the profile says that one of the two kinds of
// protection is on. A browser that was never told has it on without saying so.
func (g *getter) safeBrowsing(ctx context.Context) (tasks.Value, error) {
	s, err := g.preferences(ctx)
	return truth(s.at("safebrowsing", "enhanced") == true || s.at("safebrowsing", "enabled") == true), err
}

// openNewTab is Chrome's number for starting with the page of a new tab.
const openNewTab = 5

// startupPage is new_startup_page: the browser starts with the page of a new tab, as
// it does before anybody says otherwise. Nothing can be told of a browser that has no
// profile.
func (g *getter) startupPage(ctx context.Context) (tasks.Value, error) {
	s, err := g.preferences(ctx)
	switch {
	case err != nil:
		return nil, err
	case g.o.Defects.Has(startupWithout) && s[0] == nil:
		return "Google", nil
	case g.o.Defects.Has(sessionWithout):
		_, told := s[0]["session"]
		return truth(!told || s[:1].at("session", "restore_on_startup") == float64(openNewTab)), nil
	case s[0] == nil:
		return nil, nil
	}
	value := s.at("session", "restore_on_startup")
	return truth(value == nil || value == float64(openNewTab)), nil
}

// untilQuit is Chrome's number for keeping a site's data until the browser ends.
const untilQuit = 4

// deletesData is data_delete_automacally: the browser forgets the data of sites
// when it ends.
func (g *getter) deletesData(ctx context.Context) (tasks.Value, error) {
	s, err := g.preferences(ctx)
	if err != nil {
		return nil, err
	}
	if !g.o.Defects.Has(anyContentSetting) {
		return truth(s.at("profile", "default_content_setting_values", "cookies") == float64(untilQuit)), nil
	}
	if s.at("profile") == nil {
		return "Google", nil
	}
	return truth(s.at("profile", "default_content_setting_values") != nil), nil
}

// experiments is enabled_experiments: the switches of chrome://flags that were
// turned, as "name@choice".
func (g *getter) experiments(ctx context.Context) (tasks.Value, error) {
	s, err := g.settings(ctx, "Local State")
	if err != nil {
		return nil, err
	}
	if value, ok := s.at("browser", "enabled_labs_experiments").([]any); ok {
		return value, nil
	}
	return []any{}, nil
}

// colorScheme is chrome_color_scheme: light, dark, or as the system has it.
func (g *getter) colorScheme(ctx context.Context) (tasks.Value, error) {
	s, err := g.preferences(ctx)
	if err != nil {
		return nil, err
	}
	value := s.at("browser", "theme", "color_scheme2")
	if value == nil {
		value = s.at("browser", "theme", "color_scheme")
	}
	return scheme(value), nil
}

// scheme names one of Chrome's colour schemes.
func scheme(value any) string {
	switch value {
	case 1.0:
		return "light"
	case 2.0:
		return "dark"
	}
	return "system"
}

// bookmarks is bookmarks: the roots of the tree of bookmarks.
func (g *getter) bookmarks(ctx context.Context) (tasks.Value, error) {
	s, err := g.settings(ctx, "Default/Bookmarks")
	return s.at("roots"), err
}

// extensions returns what the profile has about each extension.
func (g *getter) extensions(ctx context.Context) ([]map[string]any, error) {
	s, err := g.preferences(ctx)
	if err != nil {
		return nil, err
	}
	var all []map[string]any
	for i := range s {
		found, _ := s[i:i+1].at("extensions", "settings").(map[string]any)
		for _, id := range tasks.Params(found).Keys() {
			if extension, ok := found[id].(map[string]any); ok && len(all) < maxExtensions {
				all = append(all, extension)
			}
		}
	}
	return all, nil
}

// extensionPaths is find_unpacked_extension_path: the folders of all extensions.
func (g *getter) extensionPaths(ctx context.Context) (tasks.Value, error) {
	return g.eachExtension(ctx, func(extension map[string]any) (string, error) {
		path, _ := extension["path"].(string)
		return path, nil
	})
}

// extensionNames is find_installed_extension_name: the names of all extensions.
func (g *getter) extensionNames(ctx context.Context) (tasks.Value, error) {
	return g.eachExtension(ctx, func(extension map[string]any) (string, error) {
		manifest, _ := extension["manifest"].(map[string]any)
		name, _ := manifest["name"].(string)
		if name != "" || g.o.Defects.Has(nameInPreferences) {
			return name, nil
		}
		folder, _ := extension["path"].(string)
		if folder == "" {
			return "", nil
		}
		if !path.IsAbs(folder) {
			folder = profiles[0] + "/Default/Extensions/" + folder
		}
		manifest, err := g.manifest(ctx, folder)
		name, _ = manifest["name"].(string)
		return name, err
	})
}

// eachExtension returns a text of each extension that has it.
func (g *getter) eachExtension(ctx context.Context, text func(map[string]any) (string, error)) (tasks.Value, error) {
	extensions, err := g.extensions(ctx)
	if err != nil {
		return nil, err
	}
	found := []any{}
	for _, extension := range extensions {
		text, err := text(extension)
		switch {
		case err != nil:
			return nil, err
		case text != "":
			found = append(found, text)
		case g.o.Defects.Has(oneNameless):
			return "Google", nil
		}
	}
	return found, nil
}

// manifest reads the description of an extension, with its name in the
// language that it is written in.
func (g *getter) manifest(ctx context.Context, folder string) (map[string]any, error) {
	read := func(file string) (object map[string]any, err error) {
		text, err := g.bytes(ctx, folder+"/"+file, maxManifest)
		if text != nil && json.Unmarshal(text, &object) != nil {
			return nil, err
		}
		return object, err
	}
	manifest, err := read("manifest.json")
	if err != nil {
		return nil, err
	}
	name, _ := manifest["name"].(string)
	key, ok := strings.CutPrefix(name, "__MSG_")
	locale, _ := manifest["default_locale"].(string)
	if !ok || local(locale) != nil || strings.Contains(locale, "/") {
		return manifest, nil
	}
	messages, err := read("_locales/" + locale + "/messages.json")
	for known, message := range messages {
		if fields, _ := message.(map[string]any); strings.EqualFold(known, strings.TrimSuffix(key, "__")) {
			manifest["name"] = fields["message"]
		}
	}
	return manifest, err
}

// shopExtensions is extensions_installed_from_shop: the manifests of the
// extensions in the folder that the browser downloads them to.
func (g *getter) shopExtensions(ctx context.Context) (tasks.Value, error) {
	var errs error
	manifests := []any{}
	for _, profile := range profiles {
		out, err := g.script(ctx, "find", profile+"/Default/Extensions/", "-mindepth", "3", "-maxdepth", "3", "-name", "manifest.json", "-printf", `%P\0`)
		errs = errors.Join(errs, err)
		for name := range strings.SplitSeq(out, "\x00") {
			if name == "" || len(manifests) == maxExtensions || errs != nil {
				continue
			}
			manifest, err := g.manifest(ctx, path.Dir(profile+"/Default/Extensions/"+name))
			if errs = err; manifest != nil {
				manifests = append(manifests, manifest)
			}
		}
	}
	return manifests, errs
}
