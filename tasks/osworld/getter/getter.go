package getter

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"desktop-agent/internal/spell"
	"desktop-agent/screen"
	"desktop-agent/tasks"
	"desktop-agent/tasks/asset"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/osworld/defect"
)

// An Env is the computer that is looked at: an [*env.Env].
type Env interface {
	Run(context.Context, env.Command) (env.Output, error)
	Start(context.Context, env.Command) error
	Fetch(guest, hostDest string, limit int64) error
	Dial(ctx context.Context, address string) (net.Conn, error)
	Windows(context.Context) ([]screen.Window, error)
	Size() image.Point
	Now() time.Time
	Network() bool
	BusAddress() string
	Server() int
	Err() error
}

var _ Env = (*env.Env)(nil)

// Options are the settings of a getter; the zero value of each but Dir means its
// default.
type Options struct {
	// Dir is the folder that copies are put into, under the names that the task
	// gives them. Results and what is expected need a folder each.
	Dir string
	// TaskID names the task's folder in Cache.
	TaskID string
	// Cache is the folder of what was downloaded, in OSWorld's layout:
	// <task id>/<name>; see package asset. Without it, downloads go to Dir.
	Cache string
	// Saved is where the set-up has kept what commands print, for cache_file; the
	// task's folder in Cache if empty, which is looked at in any case.
	Saved string
	// Suite is the folder of the suite, which files are in that cloud_file names
	// by a path instead of a URL.
	Suite string
	// Offline takes what is not in Cache from nowhere.
	Offline bool
	// Client fetches; a client of its own if nil.
	Client *http.Client
	// MaxFile is how many bytes a file may have; 1 GiB if zero.
	MaxFile int64
	// Limit is how long a command may run; 120 s if zero.
	Limit time.Duration
	// Defects are those of OSWorld's that are repeated; see the list of that name.
	Defects defect.Set
	// Log gets what happens; nothing is logged if nil.
	Log *slog.Logger
}

// withDefaults returns a copy of o, which may be nil, with every default filled in.
func (o *Options) withDefaults() Options {
	var s Options
	if o != nil {
		s = *o
	}
	if s.MaxFile == 0 {
		s.MaxFile = asset.DefaultMax
	}
	if s.Limit == 0 {
		s.Limit = env.DefaultLimit
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	return s
}

// Unsupported reports a getter that cannot be had here, and why: such a task is to be
// skipped.
type Unsupported struct {
	Type   string
	Reason string
}

func (e *Unsupported) Error() string { return e.Type + " is not supported: " + e.Reason }

// A getter gets one value from the computer.
type getter struct {
	o    Options
	e    Env
	kind string
	p    tasks.Params
}

// A kind is one kind of getter.
type kind struct {
	check func(tasks.Params) error
	get   func(*getter, context.Context) (tasks.Value, error)
	live  string // the parameter with the URL of a page that is looked at; "" if there is none
}

// kinds are the getters by name.
var kinds = map[string]kind{
	"vm_file":              {check: checkFiles, get: (*getter).vmFile},
	"cloud_file":           {check: checkFiles, get: (*getter).cloudFile},
	"cache_file":           {check: checkName("path"), get: (*getter).cacheFile},
	"content_from_vm_file": {check: checkContent, get: (*getter).content},
	"gimp_config_file":     {check: all(needs("file_name"), checkName("dest"), checkName("file_name")), get: (*getter).gimpConfig},
	"vlc_config":           {check: checkName("dest"), get: (*getter).vlcConfig},

	"rule":              {check: checkRule, get: (*getter).rule},
	"rule_relativeTime": {check: checkRelative, get: (*getter).relative},
	"time_diff_range":   {check: needs("diff_range_in_minutes"), get: (*getter).timeDifference},

	"vm_command_line":    {check: checkCommand, get: (*getter).stdout},
	"vm_command_error":   {check: checkCommand, get: (*getter).stderr},
	"vm_terminal_output": {get: (*getter).terminal},
	"accessibility_tree": {get: (*getter).tree},

	"list_directory":       {check: needs("path"), get: (*getter).listing},
	"vm_screen_size":       {get: (*getter).screenSize},
	"vm_window_size":       {check: needs("app_class_name"), get: (*getter).windowSize},
	"vm_wallpaper":         {check: checkName("dest"), get: (*getter).wallpaper},
	"vlc_playing_info":     {check: checkName("dest"), get: (*getter).vlcStatus},
	"default_video_player": {get: (*getter).videoPlayer},
	"shortcuts_on_desktop": {get: (*getter).shortcuts},

	"audio_in_slide":            {check: checkSlide, get: (*getter).slideAudio},
	"background_image_in_slide": {check: checkSlide, get: (*getter).slideBackground},

	"default_search_engine":           {get: (*getter).searchEngine},
	"profile_name":                    {get: (*getter).profileName},
	"chrome_language":                 {get: (*getter).language},
	"chrome_font_size":                {get: (*getter).fontSize},
	"chrome_color_scheme":             {get: (*getter).colorScheme},
	"chrome_appearance_mode_ui":       {get: (*getter).appearance},
	"enable_do_not_track":             {get: (*getter).doNotTrack},
	"enable_safe_browsing":            {get: (*getter).safeBrowsing},
	"enable_enhanced_safety_browsing": {get: (*getter).enhancedSafety},
	"new_startup_page":                {get: (*getter).startupPage},
	"data_delete_automacally":         {get: (*getter).deletesData},
	"enabled_experiments":             {get: (*getter).experiments},
	"bookmarks":                       {get: (*getter).bookmarks},
	"cookie_data":                     {check: checkName("dest"), get: (*getter).cookies},
	"history":                         {check: checkName("dest"), get: (*getter).history},
	"find_unpacked_extension_path":    {get: (*getter).extensionPaths},
	"find_installed_extension_name":   {get: (*getter).extensionNames},
	"extensions_installed_from_shop":  {get: (*getter).shopExtensions},

	"active_url_from_accessTree": {get: (*getter).activeURL},
	"active_tab_url_parse":       {check: checkURLParse, get: (*getter).urlParse},
	"url_dashPart":               {check: checkDashPart, get: (*getter).dashPart},
	"url_path_parse":             {get: (*getter).pathParse},
	"open_tabs_info":             {get: (*getter).openTabs},
	"active_tab_info":            {get: (*getter).activeTab},
	"active_tab_html_parse":      {check: checkParse, get: (*getter).htmlParse},
	"chrome_saved_address":       {get: (*getter).savedAddress},
	"page_info":                  {check: needs("url"), get: (*getter).pageInfo, live: "url"},
	"pdf_from_url":               {check: all(needs("path"), checkName("dest")), get: (*getter).pdf, live: "path"},
	"info_from_website":          {check: checkWebsite, get: (*getter).website, live: "url"},
}

// alias are other names of getters.
var alias = map[string]string{"macys_product_url_parse": "url_path_parse"}

// impossible says why some getters cannot be had.
var impossible = map[string]string{
	"googledrive_file":                        "it needs a Google account",
	"vscode_config":                           "it needs Visual Studio Code with the extension that OSWorld evaluates by",
	"gotoRecreationPage_and_get_html_content": "it searches www.recreation.gov, whose pages have changed since",
	"number_of_search_results":                "it asks Google, which keeps programs out",
	"replay":                                  "it replays a recording that no task has",
}

// Get looks at the computer. o may be nil only for getters that copy nothing.
func Get(ctx context.Context, e Env, g *tasks.Getter, o *Options) (tasks.Value, error) {
	if g == nil {
		return nil, nil
	}
	if err := Check(g); err != nil {
		return nil, err
	}
	one := &getter{o: o.withDefaults(), e: e, kind: name(g), p: g.Params}
	k := kinds[one.kind]
	if url, _ := g.Params.Text(k.live); k.live != "" && env.Remote(url) && !e.Network() {
		return nil, &Unsupported{Type: g.Type, Reason: fmt.Sprintf("%.200s is in the live web, and the network is off", url)}
	}
	begun := time.Now()
	value, err := k.get(one, ctx)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.Type, err)
	}
	one.o.Log.InfoContext(ctx, "getter", "type", g.Type, "nothing", value == nil, "ms", time.Since(begun).Milliseconds())
	return value, nil
}

// Check says what is wrong with a getter without looking: an unknown type, a
// parameter that is missing or of a wrong type, a path that leaves its folder,
// or, as an [*Unsupported], a type that cannot be had.
func Check(g *tasks.Getter) error {
	if g == nil {
		return nil
	}
	if why, ok := impossible[g.Type]; ok {
		return &Unsupported{Type: g.Type, Reason: why}
	}
	k, ok := kinds[name(g)]
	if !ok {
		return fmt.Errorf("unknown getter %.100q: the nearest are %s", g.Type, strings.Join(spell.Nearest(g.Type, slices.Sorted(maps.Keys(kinds)), 3), ", "))
	}
	if k.check == nil {
		return nil
	}
	if err := k.check(g.Params); err != nil {
		return fmt.Errorf("%s: %w", g.Type, err)
	}
	return nil
}

// NeedsNetwork reports whether a getter is for a page of the live web.
func NeedsNetwork(g *tasks.Getter) bool {
	if g == nil || kinds[name(g)].live == "" {
		return false
	}
	url, err := g.Params.Text(kinds[name(g)].live)
	return err == nil && env.Remote(url)
}

func name(g *tasks.Getter) string {
	if other, ok := alias[g.Type]; ok {
		return other
	}
	return g.Type
}

// need returns a text that must be there.
func need(p tasks.Params, key string) (string, error) {
	text, err := p.Text(key)
	if err == nil && strings.TrimSpace(text) == "" {
		err = fmt.Errorf("%s is missing", key)
	}
	if err == nil && strings.ContainsRune(text, 0) {
		err = fmt.Errorf("%s has a NUL character", key)
	}
	return text, err
}

// needs returns the check that texts are there.
func needs(keys ...string) func(tasks.Params) error {
	return func(p tasks.Params) error {
		var errs []error
		for _, key := range keys {
			_, err := need(p, key)
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}
}

// all returns the check that several checks hold.
func all(checks ...func(tasks.Params) error) func(tasks.Params) error {
	return func(p tasks.Params) error {
		for _, check := range checks {
			if err := check(p); err != nil {
				return err
			}
		}
		return nil
	}
}
