package getter

import (
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/screen"
	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/defect"
	"desktop-agent/tasks/osworld/metric/program"
)

// desktop returns a tree of programs.
func desktop(programs ...*object) *object {
	return &object{role: "desktop frame", name: "main", children: programs}
}

func TestTree(t *testing.T) {
	shown := []string{"enabled", "showing", "visible", "multi_line"}
	f := &fake{root: desktop(&object{role: "application", name: "Thunderbird", children: []*object{{
		role: "frame", name: `Home "<&'`, states: shown, box: image.Rect(10, 20, 110, 70), placed: true,
		children: []*object{
			{role: "page tab list", attributes: map[string]string{"id": "tabmail-tabs", "1 bad name!": "x", "": "y", "a b": "1", "a:b": "2"}, selection: true, children: []*object{
				{role: "page tab", name: "About Profiles", text: "a\uFFFCb \x01\x00 ]]> <c>", actions: []action{{"do it", "does", "<Alt>d"}, {"", "", ""}}},
			}},
			{role: "image", states: []string{"visible"}, box: image.Rect(0, 0, 5, 5), placed: true, image: true},
			{role: "slider", value: &value{50, 0, 1e30, 0.25}},
			{role: "", name: "odd"}, {role: "Rôle/9 <", name: "odd"},
		},
	}}})}
	text := get(t, f, "accessibility_tree", nil, nil).(string)

	d := xml.NewDecoder(strings.NewReader(text))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err, text)
	}
	for _, rule := range []map[string]any{
		{"selectors": []any{`application[name=Thunderbird] page-tab-list[attr|id="tabmail-tabs"]>page-tab[name="About Profiles"]`}},
		{"xpath": `/desktop-frame[@name="main"]/application/frame[@st:showing="true" and @st:multi_line="true" and @cp:screencoord="(10, 20)" and @cp:size="(100, 50)"]`},
		{"xpath": `//page-tab-list[@selection="true" and @attr:bad-name-="x" and (@attr:a-b="1" or @attr:a-b="2")]`},
		{"xpath": `//page-tab[starts-with(text(), "ab ") and contains(text(), "]]> <c>")]`},
		{"xpath": `//page-tab[@act:do-it_desc="does" and @act:do-it_kb="<Alt>d"]`},
		{"xpath": `//image[@image="true" and not(@cp:size)]`},
		{"xpath": `//slider[@val:value="50.0" and @val:min="0.0" and @val:max="1e+30" and @val:step="0.25"]`},
		{"xpath": `//unknown[@name="odd"]`},
		{"xpath": `//Rôle-9--[@name="odd"]`},
	} {
		score, err := program.Metrics(0)["check_accessibility_tree"](t.Context(), text, rule, nil)
		require.NoError(t, err)
		assert.Equal(t, tasks.Yes(), score, rule)
	}
}

func TestTreeLimit(t *testing.T) {
	f := &fake{root: desktop(&object{role: "application", text: strings.Repeat("x", maxTree)})}
	_, err := Get(t.Context(), f, &tasks.Getter{Type: "accessibility_tree"}, nil)
	require.ErrorContains(t, err, "more than")
}

func TestTerminal(t *testing.T) {
	active, focused := []string{"active"}, []string{"focused"}
	terminal := func(text string, states []string) *object {
		return &object{role: "terminal", text: text, states: states}
	}
	window := func(states []string, children ...*object) *object {
		return desktop(&object{role: "application", name: "xfce4-terminal", children: []*object{{role: "frame", states: states, children: children}}})
	}
	for _, tt := range []struct {
		name string
		root *object
		want any
	}{
		{"focused", window(active, terminal("other", nil), terminal("$ stty size\n43 132\n\n  ", focused)), "$ stty size\n43 132"},
		{"another tab", window(active, terminal("other", nil)), nil},
		{"another window", window(nil, terminal("other", focused)), nil},
		{"none", nil, nil},
	} {
		f := &fake{root: tt.root, windows: []screen.Window{{Class: "XTerm"}, {Class: "Mousepad", Focused: true}}}
		assert.Equal(t, tt.want, get(t, f, "vm_terminal_output", nil, nil), tt.name)
	}
	f := &fake{windows: []screen.Window{{Class: "XTerm", Focused: true}}}
	_, err := Get(t.Context(), f, &tasks.Getter{Type: "vm_terminal_output"}, nil)
	no, ok := errors.AsType[*Unsupported](err)
	require.True(t, ok, "%v", err)
	assert.Contains(t, no.Reason, "XTerm")
}

// browsing returns windows of a browser, the second of which is active, with texts in
// their address bars.
func browsing(name string, texts ...string) *object {
	program := &object{role: "application", name: name}
	for i, text := range texts {
		w := &object{role: "frame", children: []*object{{role: "panel", children: []*object{{role: "entry", name: addressBar, text: text}}}}}
		if i == 1 {
			w.states = []string{"active"}
		}
		program.children = append(program.children, w)
	}
	return desktop(&object{role: "application", name: "Thunderbird", children: []*object{{role: "entry", name: addressBar, text: "no"}}}, program)
}

func TestActiveURL(t *testing.T) {
	for _, tt := range []struct {
		root         *object
		prefix       any
		want, compat any
	}{
		{browsing("Google Chrome", "drugs.com/npc/"), "https://www.", "https://www.drugs.com/npc/", nil},
		{browsing("Chromium", "drugs.com/npc/"), nil, "https://drugs.com/npc/", nil},
		{browsing("Chromium", "drugs.com"), "", "drugs.com", nil},
		{browsing("Chromium", "www.a.com"), "https://www.", "https://www.a.com", "https://www.www.a.com"},
		{browsing("Chromium", "http://a.com:8/b"), "https://www.", "http://a.com:8/b", "https://www.http://a.com:8/b"},
		{browsing("Chromium", "chrome://settings"), nil, "chrome://settings", "https://chrome://settings"},
		{browsing("Chromium", "/home/user/a.html?b"), nil, "file:///home/user/a.html?b", "https:///home/user/a.html?b"},
		{browsing("Chromium", "localhost:8000/a"), "http://", "http://localhost:8000/a", nil},
		{browsing("Chromium", "first", "active"), "", "active", "first"},
		{browsing("Chromium", ""), nil, nil, nil},
		{browsing("Firefox", "a.com"), nil, nil, nil},
	} {
		p := tasks.Params{}
		if tt.prefix != nil {
			p["goto_prefix"] = tt.prefix
		}
		f := &fake{root: tt.root}
		assert.Equal(t, tt.want, get(t, f, "active_url_from_accessTree", p, nil))
		if tt.compat == nil {
			tt.compat = tt.want
		}
		assert.Equal(t, tt.compat, get(t, f, "active_url_from_accessTree", p, &Options{Defects: defect.When(true)}))
	}
}

// A browser that is busy tells its address bar late, or the whole of itself, and is waited
// for as long as it tells of other objects. One that has no window is not waited for.
func TestLateAddress(t *testing.T) {
	browser := []screen.Window{{Class: "chromium"}}
	late := []*object{desktop(), browsing("Chromium", "")}
	f := &fake{roots: late, root: browsing("Chromium", "a.com")}
	assert.Nil(t, get(t, f, "active_url_from_accessTree", nil, nil))
	assert.Len(t, f.roots, 1, "one look")
	// changing is so much time in which a browser has other objects at each look.
	changing := func(d time.Duration) (looks []*object) {
		for i := range d / lookAgain {
			looks = append(looks, browsing("Chromium", make([]string, 2+i%2)...))
		}
		return looks
	}
	// titles is the same, with other names.
	titles := func(d time.Duration) (looks []*object) {
		for i := range d / lookAgain {
			looks = append(looks, browsing(fmt.Sprint("Chromium ", i), ""))
		}
		return looks
	}
	for name, tt := range map[string]struct {
		looks []*object
		then  string
		want  tasks.Value
		err   string
		takes time.Duration
	}{
		"at once":       {nil, "a.com", "https://a.com", "", 0},
		"soon":          {late, "a.com", "https://a.com", "", 2 * lookAgain},
		"late":          {changing(time.Minute), "a.com", "https://a.com", "", time.Minute},
		"a new tab":     {nil, "", nil, "", maxSilence},
		"titles":        {titles(time.Hour), "", nil, "", maxSilence},
		"late, and new": {changing(time.Minute), "", nil, "", time.Minute + maxSilence},
		"never":         {changing(time.Hour), "", nil, "its windows still change after 2m0s", treeLimit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				f := &fake{windows: browser, roots: tt.looks, root: browsing("Chromium", tt.then)}
				value, err := Get(t.Context(), f, &tasks.Getter{Type: "active_url_from_accessTree"}, nil)
				assert.Equal(t, tt.want, value)
				if tt.err == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, tt.err)
				}
				assert.Equal(t, tt.takes, time.Since(begin).Truncate(lookAgain))
			})
		})
	}
}

func TestURLParts(t *testing.T) {
	at := func(url string) *fake { return &fake{root: browsing("Chromium", url)} }
	m := func(pairs ...any) map[string]any { return params(pairs...) }

	p := params("parse_keys", []any{"from", "to", "none", "a b[]", "blank"}, "replace", m("to", "until"))
	assert.Equal(t, m("from", "x y", "until", "50%&é", "none", "", "a b[]", "1", "blank", "later"),
		get(t, at("a.com/?from=x+y&from=z&to=50%25%26%c3%A9&a%20b%5B%5D=1&blank=&blank=later&novalue#from=no"), "active_tab_url_parse", p, nil))
	p = params("parse_keys", "models", "split_list", "true")
	assert.Equal(t, m("models", []any{"a", "b%zz", "\uFFFD"}), get(t, at("a.com/x?models=a,b%zz,%ff"), "active_tab_url_parse", p, nil))
	assert.Equal(t, m("models", []any{""}), get(t, at("a.com/x"), "active_tab_url_parse", p, nil))
	assert.Nil(t, get(t, &fake{}, "active_tab_url_parse", p, nil))

	weather := at("accuweather.com/en/gb/manchester/m15-6/june-weather/329260?year=2026")
	for _, tt := range []struct {
		p    tasks.Params
		want any
	}{
		{params("goto_prefix", "https://www.", "partIndex", -2.0, "needDeleteId", false, "returnType", "json", "key", "time"), m("time", "june-weather")},
		{params("partIndex", "-1", "needDeleteId", true, "returnType", "string"), "329260"},
		{params("partIndex", -1.0), "329260?year=2026"},
		{params("partIndex", 0.0), "https:"},
		{params("partIndex", 99.0), nil},
		{params("partIndex", -99.0), nil},
	} {
		assert.Equal(t, tt.want, get(t, weather, "url_dashPart", tt.p, nil), tt.p)
	}

	p = params("parse_keys", []any{"Men_regular_size_t", "Price_discount_range", "other"})
	shop := "shop.com/shop/mens-clothing/shirts/Sleeve_length,Men_regular_size_t,Price_discount_range/Short%20Sleeve,L,"
	assert.Equal(t, m("mens_clothing", true, "shirts", true, "short_sleeve", true, "Men_regular_size_t", "L", "Price_discount_range", discount("")),
		get(t, at(shop+"?a=b,c"), "url_path_parse", p, nil))
	assert.Equal(t, "50_PERCENT_ off & more",
		get(t, at(shop+"50_PERCENT_%20off%20%26%20more"), "macys_product_url_parse", p, nil).(map[string]any)["Price_discount_range"])
	assert.Equal(t, "not_50_PERCENT_ off & more",
		get(t, at(shop+"50_PERCENT_%20off%20%26%20more|30_PERCENT_%20off%20%26%20more"), "url_path_parse", p, nil).(map[string]any)["Price_discount_range"])
	assert.Equal(t, m("mens_clothing", nil, "shirts", nil, "short_sleeve", nil, "Men_regular_size_t", nil, "Price_discount_range", discount("")),
		get(t, at("shop.com"), "url_path_parse", p, nil))
}

func FuzzURL(f *testing.F) {
	f.Add("a.com/?from=x+y&%zz=1#%")
	f.Fuzz(func(t *testing.T, url string) {
		look := &fake{root: browsing("Chromium", url)}
		for kind, p := range map[string]tasks.Params{
			"active_tab_url_parse": params("parse_keys", "a"), "url_dashPart": params("partIndex", 3.0), "url_path_parse": params("parse_keys", "a"),
		} {
			_, err := Get(t.Context(), look, &tasks.Getter{Type: kind, Params: p}, nil)
			require.NoError(t, err)
		}
	})
}
