package export

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/run"
	"desktop-agent/run/eventjson"
)

// pressWords are how actions and code tell of a key with a character.
var pressWords = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(?:press|hold(?: down)?|let go of) (?:shift(?: \((?:left|right)\))?\+)?\S(?:[\s.,;:)]|$)`),
	regexp.MustCompile(`(?i)\b(?:press|keyDown|keyUp|hotkey)\(\s*\[?(?:\s*['"]shift['"]\s*,)?\s*['"].['"]`),
}

// names are the JSON keys whose values are words of this program. Such a value
// stays, also if somebody has typed it; any other is masked like a text.
var names = keySet(strings.Fields("frame_id frame images id role states type screen purpose prompt schema parser planning guard how finish " +
	"from verdict kind status outcome button keys key modifiers action as_expected source tools reason for effect effects severity grade by"))

// words are the values that stay under these keys. They are made when a run is exported
// for the first time, as the actions' names take their schemas, and every start of the
// program would wait for these.
var words = sync.OnceValue(func() map[string]bool {
	return keySet(append(actionNames(), strings.Split("code,tools,suggestive,off,none,actor,planner,monitor,worldmodel,grounder,ground,system,user,assistant,tool,"+
		"navigate,edit,execute,record,modify_external,delete,send,low,medium,high,critical,table,workspace,foresight,objection,approval,irreversibility,recording,no foresight,no answer,"+
		"go,regenerate,replan,done,infeasible,out_of_steps,out_of_budget,blocked,stuck,stopped,error,running,pending,completed,skipped,"+
		"delivered,no_effect,refused,unknown,yes,no,unclear,stop,length,tool_calls,refusal,left,middle,right,"+
		"tree,patch,scaled_patch,place,model,macro,window,image,element,worldmodel,regeneration,goal_check,added,updated,moved,removed,"+
		"title_is,title_has,text_is,text_has,state_is,shown,gone,file_there,file_saved,predicate,ocr,passed,proved,read,claimed,"+
		"quiet,ceiling,normal,dialog,popup_menu,tooltip,assess,extend,generate,goal,propose,review,revise,"+
		"active,focused,selected,checked,indeterminate,pressed,expanded,collapsed,editable,multi-line,read-only,busy,modal,required,invalid,default,"+
		"alert,calendar,canvas,check box,check menu item,column header,combo box,desktop icon,desktop frame,drawing area,file chooser,"+
		"filler,frame,icon,internal frame,label,layered pane,list,list item,menu,menu bar,menu item,page tab,page tab list,panel,"+
		"password text,popup menu,progress bar,push button,radio button,radio menu item,root pane,row header,scroll bar,scroll pane,"+
		"separator,slider,spin button,split pane,status bar,table,table cell,table column header,table row header,terminal,text,"+
		"toggle button,tool bar,tool tip,tree table,viewport,header,footer,paragraph,application,autocomplete,editbar,embedded,entry,"+
		"chart,caption,document frame,heading,page,section,form,link,table row,tree item,document spreadsheet,document presentation,"+
		"document text,document web,document email,comment,list box,grouping,image map,notification,info bar,level bar,title bar,"+
		"block quote,article,landmark,log,static,push button menu,switch", ",")...))
})

func actionNames() (list []string) {
	for _, v := range actuator.Variants() {
		list = append(list, v.Name)
	}
	return list
}

// numbered are the IDs that the program gives.
var numbered = regexp.MustCompile(`^[a-z]?[0-9]{1,9}(-zoom|-act|-region|-ground)?$`)

func keySet(list []string) map[string]bool {
	set := map[string]bool{}
	for _, word := range list {
		set[word] = true
	}
	return set
}

// stays reports whether a value under a JSON key is a word of this program.
func stays(key, value string) bool {
	if !names[key] {
		return false
	}
	if words()[value] || numbered.MatchString(value) {
		return true
	}
	k, err := actuator.ParseKey(value)
	return err == nil && string(k) == value && (key == "keys" || key == "key" || key == "modifiers")
}

// event masks everything that an event tells.
func (m *masker) event(data run.EventData) (run.EventData, error) {
	form, err := eventjson.FormOf(data)
	if err != nil {
		return nil, err
	}
	if err := m.value(reflect.ValueOf(form), ""); err != nil {
		return nil, err
	}
	return form.Data(), nil
}

// value masks every text in a value, however deep. What it does not know it
// refuses. key is the JSON key that the value stands under.
func (m *masker) value(v reflect.Value, key string) error {
	switch v.Kind() {
	case reflect.String:
		return m.text(v, key)
	case reflect.Struct:
		return m.fields(v)
	case reflect.Interface:
		return m.inside(v, key)
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return m.value(v.Elem(), key)
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 && v.Len() > 0 {
			return fmt.Errorf("%q has bytes that nobody can mask", key)
		}
		for i := range v.Len() {
			if err := m.value(v.Index(i), key); err != nil {
				return err
			}
		}
		return nil
	case reflect.Map:
		return m.entries(v, key)
	case reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return fmt.Errorf("%q is of a kind that nobody can mask", key)
	}
	return nil // a number or a truth value
}

func (m *masker) text(v reflect.Value, key string) error {
	s := v.String()
	switch {
	case v.Type() == reflect.TypeFor[actuator.Secret]() && m.red.Typed && s != "":
		v.SetString(hidden)
	case key == "frame_id" || key == "frame" || key == "images":
		v.SetString(m.frame(s))
	case key == "keys" || key == "key":
		if !stays(key, s) {
			v.SetString("*")
		}
	case !stays(key, s):
		v.SetString(m.mask(s))
	}
	return nil
}

// frame returns the ID that a frame has in the copy.
func (m *masker) frame(id string) string {
	if id == "" || numbered.MatchString(id) || !m.shows(id) {
		return id
	}
	if m.frames[id] == "" {
		m.frames[id] = fmt.Sprintf("x%04d", len(m.frames)+1)
	}
	return m.frames[id]
}

func (m *masker) fields(v reflect.Value) error {
	if v.Type() == reflect.TypeFor[time.Time]() {
		return nil
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			return fmt.Errorf("%s.%s is of no kind that can be masked", v.Type(), f.Name)
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "covered" {
			continue // it was dropped where something is black
		}
		if err := m.value(v.Field(i), name); err != nil {
			return err
		}
	}
	return nil
}

// inside masks what an interface holds.
func (m *masker) inside(v reflect.Value, key string) error {
	if v.IsNil() {
		return nil
	}
	if n, ok := v.Interface().(float64); ok {
		if s := strconv.FormatFloat(n, 'f', -1, 64); m.shows(s) {
			v.Set(reflect.ValueOf(hidden))
		}
		return nil
	}
	held := reflect.New(v.Elem().Type()).Elem()
	held.Set(v.Elem())
	if a, ok := v.Interface().(actuator.Action); ok && m.red.Typed {
		held.Set(reflect.ValueOf(withoutCharacter(a)))
	}
	if err := m.value(held, key); err != nil {
		return err
	}
	v.Set(held)
	return nil
}

// withoutCharacter hides which key of a character an action presses.
func withoutCharacter(a actuator.Action) actuator.Action {
	if _, ok := pressed(a); !ok {
		return a
	}
	return actuator.WithKey(a, "*")
}

// entries masks the keys and the values of a map.
func (m *masker) entries(v reflect.Value, key string) error {
	if v.IsNil() {
		return nil
	}
	if v.Type().Key().Kind() != reflect.String {
		return fmt.Errorf("%q has keys that nobody can mask", key)
	}
	masked := reflect.MakeMap(v.Type())
	for it := v.MapRange(); it.Next(); {
		k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		k.SetString(it.Key().String())
		if !words()[k.String()] { // the role of a model, such as "actor"
			k.SetString(m.mask(k.String()))
		}
		e.Set(it.Value())
		if err := m.value(e, ""); err != nil {
			return err
		}
		masked.SetMapIndex(k, e)
	}
	v.Set(masked)
	return nil
}

// left returns where an event of the copy, as JSON, still shows something that
// is to be hidden; "" if nowhere.
func (m *masker) left(data run.EventData) string {
	text, err := eventjson.Marshal(data)
	if err != nil {
		return "an event that is no JSON"
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return "an event that is no JSON"
	}
	return m.search(v, "")
}

func (m *masker) search(v any, key string) string {
	switch v := v.(type) {
	case string:
		if m.shows(v) && !stays(key, v) && key != "png" && key != "keys" && key != "key" {
			return fmt.Sprintf("%q", key)
		}
	case []any:
		for _, e := range v {
			if where := m.search(e, key); where != "" {
				return where
			}
		}
	case map[string]any:
		for k, e := range v {
			if (key == "settings" || key == "models") && !words()[k] && m.shows(k) {
				return "a key"
			}
			if _, isTime := e.(string); isTime && (k == "at" || strings.HasSuffix(k, "_at")) {
				continue
			}
			if where := m.search(e, k); where != "" {
				return where
			}
		}
	}
	return ""
}
