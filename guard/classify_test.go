package guard_test

import (
	"image"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"desktop-agent/actuator"
	"desktop-agent/guard"
	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
	"desktop-agent/worldmodel"
)

// An item is an element of a test's window.
type item struct {
	role, name, text string
	states           []string
}

func focused(role, name, text string) item {
	return item{role, name, text, []string{"focused", "editable"}}
}

// A look is what a test's screen shows: one window of a class, with elements in a
// column, each 20 pixels high.
func look(class, kind, title string, items ...item) *screen.Observation {
	box := image.Rect(0, 0, 400, 600)
	role := "frame"
	if kind == "dialog" {
		role = "dialog"
	}
	o := &screen.Observation{
		FrameID: "f0001",
		Windows: []screen.Window{{ID: 1, Title: title, Class: class, Type: kind, PID: 7, Box: box, Focused: true}},
		Image:   screen.Image{Mapping: screen.Mapping{Source: box, Size: box.Size()}},
	}
	if items == nil { // a program that tells nothing
		return o
	}
	o.Tree.Nodes = []atspi.Node{{ID: "n1", App: class, PID: 7, Parent: -1, Role: role, Name: title, Box: box}}
	parent := 0
	for i, it := range items {
		o.Tree.Nodes = append(o.Tree.Nodes, atspi.Node{
			ID: "n" + strconv.Itoa(i+2), App: class, PID: 7, Parent: parent, Depth: 1, Role: it.role, Name: it.name, Text: it.text, States: it.states,
			Box: image.Rect(10, 20*i, 390, 20*i+20),
		})
		if it.role == "document web" { // what follows is in the page
			parent = i + 1
		}
	}
	return o
}

// point is the middle of an element of a look, counted from 0.
func point(i int) actuator.Point { return actuator.Point{X: 200, Y: 20*i + 10} }

func click(i int) actuator.Click {
	p := point(i)
	return actuator.Click{At: &p, Button: actuator.Left, Count: 1}
}

func press(keys ...actuator.Key) actuator.Press { return actuator.Press{Keys: keys, Count: 1} }

// button is a look with one button, which is clicked.
func button(class, kind, title, name string, more ...item) run.Intent {
	return run.Intent{Action: click(0), On: look(class, kind, title, append([]item{{role: "push button", name: name}}, more...)...)}
}

const (
	harmless = true
	must     = false // ask
)

// TestTable has a row for each row of the table and each rule of the classifier.
func TestTable(t *testing.T) {
	type effect = worldmodel.Effect
	type row struct {
		name     string
		in       run.Intent
		harmless bool
		effect   effect
	}
	const none, navigate, edit = worldmodel.EffectNone, worldmodel.EffectNavigate, worldmodel.EffectEdit
	const send, del, external, record, execute = worldmodel.EffectSend, worldmodel.EffectDelete, worldmodel.EffectModifyExternal, worldmodel.EffectRecord, worldmodel.EffectExecute
	text := actuator.Secret("curl x | sh")
	editor := look("Mousepad", "normal", "notes.txt - Mousepad", focused("text", "", "Hello"))
	shell := look("XTerm", "", "Terminal")
	folder := look("Thunar", "normal", "Documents - Thunar", item{"icon", "Archive", "", []string{"focused"}}, item{role: "icon", name: "setup.sh"}, item{role: "icon", name: "Trash"})
	saveAs := func(name string) *screen.Observation {
		return look("Mousepad", "dialog", "Save As", focused("text", "Name:", name), item{role: "table cell", name: "old.txt"}, item{role: "push button", name: "Cancel"}, item{role: "push button", name: "Save"})
	}
	mailText := look("thunderbird", "normal", "Write: Hello", focused("document text", "", "Dear all"))
	page := look("Chromium", "normal", "Shop", item{role: "document web", name: "Shop"}, item{role: "link", name: "Green tea"}, focused("entry", "Name", ""), item{role: "push button", name: "Order"}, item{role: "check box", name: "I agree"})
	unsaved := look("Mousepad", "dialog", "Save Changes", item{role: "label", name: "Do you want to save the changes? If you don't save, they will be lost."}, item{role: "push button", name: "Save"}, item{role: "push button", name: "Don't Save"}, item{role: "push button", name: "Cancel"})
	address := func(text string) *screen.Observation {
		return look("Chromium", "normal", "Shop", focused("entry", "Address and search bar", text))
	}
	bold, boldButton := look("foo", "dialog", "Font", item{role: "check box", name: "Bold"}), actuator.Element{Role: "check box", Name: "Bold"}
	on := func(o *screen.Observation, a actuator.Action, done ...actuator.Action) run.Intent {
		return run.Intent{Action: a, On: o, Done: done, Index: len(done)}
	}
	rows := []row{
		// What changes nothing, or only what is looked at.
		{"move", on(folder, actuator.Move{At: point(0)}), harmless, none},
		{"scroll", on(folder, actuator.Scroll{DY: 3}), harmless, none},
		{"the arrow of a button", on(look("Soffice", "dialog", "Styles", item{role: "push button", name: "Delete"}, item{role: "arrow"}), click(1)), harmless, navigate},
		{"wait", on(nil, actuator.Wait{Milliseconds: 5}), harmless, none},
		{"wait until", on(nil, actuator.WaitUntil{For: actuator.TextSign, What: "x"}), harmless, none},
		{"copy", on(shell, actuator.Copy{}), harmless, none},
		{"clipboard", on(shell, actuator.SetClipboard{Text: "hello"}), harmless, none},
		{"a modifier", on(shell, actuator.KeyDown{Key: "shift"}), harmless, none},
		{"click into a field", on(editor, click(0)), harmless, navigate},
		{"right click", on(folder, actuator.Click{Button: actuator.Right, Count: 1}), harmless, navigate},
		{"select an icon", on(folder, click(0)), harmless, navigate},
		{"open a folder", on(folder, actuator.Click{At: new(point(0)), Button: actuator.Left, Count: 2}), harmless, navigate},
		{"a menu", run.Intent{Action: click(0), On: look("whatever", "normal", "x", item{role: "menu", name: "File"})}, harmless, navigate},
		{"a link", on(page, click(1)), harmless, navigate},
		{"arrow", on(folder, press("down")), harmless, navigate},
		{"escape", on(saveAs("a"), press("esc")), harmless, navigate},
		{"close an editor", on(editor, press("ctrl", "q")), harmless, navigate},
		{"Cancel", button("foo", "dialog", "Really?", "Cancel"), harmless, navigate},
		{"Abbrechen", button("foo", "dialog", "Wirklich?", "Abbrechen"), harmless, navigate},
		{"a question follows", button("foo", "normal", "x", "Options…"), harmless, navigate},
		// Edits.
		{"type into a field", on(page, actuator.Type{Text: "Ada"}), harmless, edit},
		{"type lines into a text", on(editor, actuator.Type{Text: "a\nb\n"}), harmless, edit},
		{"type into a terminal", on(shell, actuator.Type{Text: "ls"}), harmless, edit},
		{"type after a click into a field", on(page, actuator.Type{Text: "Ada"}, click(2)), harmless, edit},
		{"delete in a text", on(editor, press("delete")), harmless, edit},
		{"bold in a document", button("libreoffice-writer", "normal", "Letter", "Bold"), harmless, edit},
		{"bold by hand", on(bold, actuator.ButtonUp{At: new(point(0)), Button: actuator.Left}, actuator.ButtonDown{At: new(point(0)), Button: actuator.Left}), harmless, edit},
		{"bold by hand, from elsewhere on its button", on(bold, actuator.ButtonUp{At: &actuator.Point{X: 150, Y: 10, Element: boldButton}, Button: actuator.Left}, actuator.ButtonDown{At: &actuator.Point{X: 200, Y: 10, Element: boldButton}, Button: actuator.Left}), harmless, edit},
		{"delete rows of a document", button("libreoffice-calc", "normal", "Sheet", "Delete Rows"), harmless, edit},
		{"send to back", button("libreoffice-impress", "normal", "Slides", "Send to Back"), harmless, edit},
		{"ctrl+enter in a document", on(editor, press("ctrl", "enter")), harmless, edit},
		{"save under a new name", on(saveAs("new.txt"), click(3)), harmless, edit},
		{"set a field", on(editor, actuator.Set{At: point(0), Text: "x"}), harmless, edit},
		{"OK of a harmless dialog", button("foo", "dialog", "Line spacing", "OK", item{role: "label", name: "How many lines?"}), harmless, edit},
		{"save", on(editor, press("ctrl", "s")), must, edit},
		{"paste files", on(folder, press("ctrl", "v")), must, edit},
		{"move files", on(folder, actuator.Drag{Path: []actuator.Point{point(1), point(0)}, Button: actuator.Left}), must, edit},
		{"save what would be lost", run.Intent{Action: click(1), On: unsaved}, must, edit},
		{"do not save what would be lost", run.Intent{Action: click(2), On: unsaved}, must, del},
		{"the address of a page", on(address(""), press("enter"), actuator.Type{Text: "http://a.example/hours"}), harmless, navigate},
		{"words to search for", on(address(""), press("enter"), actuator.Type{Text: "what is 2+2=?"}), harmless, navigate},
		{"an address that shows", on(address("a.example/hours"), press("enter")), harmless, navigate},
		{"an address with data", on(address(""), press("enter"), actuator.Type{Text: "http://a.example/in?user=ada&pass=x"}), must, send},
		{"and Enter in one", on(address(""), actuator.Type{Text: "a.example/?key=x\n"}), must, send},
		{"an address with data that shows", on(address("a.example/in?pass=x"), press("enter")), must, send},
		{"an address with a user", on(address(""), press("enter"), actuator.Type{Text: "https://ada:secret@a.example/"}), must, send},
		{"an address with data and suggestions below", on(look("Chromium", "normal", "Shop", item{"entry", "Address and search bar", "a.example/in?pass=x", []string{"editable"}}, item{"document web", "Omnibox Popup", "", []string{"focused"}}), press("enter")), must, send},
		{"an address that is pasted", on(address(""), press("enter"), actuator.Paste{}), must, ""},
		// Commands and programs.
		{"Enter in a terminal", on(shell, press("enter")), must, execute},
		{"a line in a terminal", on(shell, actuator.Type{Text: "make\n"}), must, execute},
		{"a command that only reads", on(shell, actuator.Type{Text: "ls\n"}), must, navigate},
		{"a tool that runs one", run.Intent{Action: actuator.CallTool{Tool: run.CommandTool, Arguments: `{"command":"ls","arguments":["-l"]}`}, Effect: execute}, must, navigate},
		{"a tool that runs another", run.Intent{Action: actuator.CallTool{Tool: run.CommandTool, Arguments: `{"command":"touch","arguments":["x"]}`}, Effect: execute}, must, execute},
		{"another tool of this kind", run.Intent{Action: actuator.CallTool{Tool: "mcp__x__run", Arguments: `{"command":"ls"}`}, Effect: execute}, must, execute},
		{"paste into a shell", on(shell, actuator.Paste{}), must, execute},
		{"paste a command into a shell", on(shell, press("ctrl", "shift", "v")), must, execute},
		{"middle click in a shell", on(shell, actuator.Click{At: new(point(3)), Button: actuator.Middle, Count: 1}), must, execute},
		{"open a script", on(folder, actuator.Click{At: new(point(1)), Button: actuator.Left, Count: 2}), must, execute},
		{"sudo typed into an editor", on(editor, actuator.Type{Text: "sudo reboot"}), must, execute},
		{"piped into a shell", on(editor, actuator.Paste{Text: &text}), must, execute},
		{"a crontab", on(shell, actuator.Type{Text: "crontab -e"}), must, execute},
		{"Run", button("foo", "normal", "x", "Run"), must, execute},
		{"Herunterfahren", button("foo", "normal", "x", "Herunterfahren"), must, execute},
		{"Redémarrer", button("foo", "dialog", "x", "Redémarrer"), must, execute},
		{"log out by key", on(editor, press("ctrl", "alt", "delete")), must, execute},
		// Loss.
		{"rm typed anywhere", on(editor, actuator.Type{Text: "rm -r notes"}), must, del},
		{"rm typed into a field", on(page, actuator.Type{Text: "x; rm -rf /"}), must, del},
		{"rm on the clipboard", on(editor, actuator.SetClipboard{Text: "rm -r notes"}), must, del},
		{"rm set", on(editor, actuator.Set{At: point(0), Text: "rm -r notes"}), must, del},
		{"Delete in a file manager", on(folder, press("delete")), must, del},
		{"Shift+Delete in a file manager", on(folder, press("shift", "delete")), must, del},
		{"shift held, then Delete", on(folder, press("delete"), actuator.KeyDown{Key: "shift"}), must, del},
		{"drag onto the trash", on(folder, actuator.Drag{Path: []actuator.Point{point(0), point(2)}, Button: actuator.Left}), must, del},
		{"drag onto the trash by hand", on(folder, actuator.ButtonUp{At: new(point(2)), Button: actuator.Left}, actuator.ButtonDown{At: new(point(0)), Button: actuator.Left}), must, del},
		{"drag onto the trash by hand, from where the pointer went", on(folder, actuator.ButtonUp{Button: actuator.Left}, actuator.Move{At: point(0)}, actuator.ButtonDown{Button: actuator.Left}, actuator.Move{At: point(2)}), must, del},
		{"save over a name that is there", on(saveAs("old.txt"), click(3)), must, del},
		{"Enter to save over it", on(saveAs("old.txt"), press("enter")), must, del},
		{"a name typed in the same batch", on(saveAs(""), press("enter"), actuator.Type{Text: "old.txt"}), must, del},
		{"OK of a dialog that deletes", button("foo", "dialog", "Confirm", "OK", item{role: "label", name: "The file will be permanently lost."}), must, del},
		{"Yes, in German", button("foo", "dialog", "Frage", "Ja", item{role: "label", name: "Der Ordner wird endgültig gelöscht."}), must, del},
		{"Enter in a dialog that deletes", on(look("Thunar", "dialog", "Attention", item{role: "label", name: "Are you sure that you want to permanently delete it?"}, item{"push button", "Delete", "", []string{"focused"}}), press("enter")), must, del},
		// What comes after something that may have moved the focus.
		{"typed after a drag", on(editor, actuator.Type{Text: "a"}, actuator.Drag{Path: []actuator.Point{point(0), point(1)}, Button: actuator.Left}), must, ""},
		{"typed while a button is down in a text", on(editor, actuator.Type{Text: "a"}, actuator.ButtonDown{At: new(point(0)), Button: actuator.Left}), harmless, edit},
		{"typed while a button is down where the pointer was", on(editor, actuator.Type{Text: "a"}, actuator.ButtonDown{Button: actuator.Left}), harmless, edit},
		{"typed while another button is down", on(editor, actuator.Type{Text: "a"}, actuator.ButtonDown{At: new(point(0)), Button: actuator.Right}), must, ""},
		{"typed after a click by hand", on(editor, actuator.Type{Text: "a"}, actuator.ButtonDown{At: new(point(0)), Button: actuator.Left}, actuator.ButtonUp{Button: actuator.Left}), harmless, edit},
		{"typed after a click by hand where the pointer went", on(editor, actuator.Type{Text: "a"}, actuator.Move{At: point(0)}, actuator.ButtonDown{Button: actuator.Left}, actuator.ButtonUp{Button: actuator.Left}), harmless, edit},
		{"typed after a button went up elsewhere", on(editor, actuator.Type{Text: "a"}, actuator.ButtonDown{At: new(point(0)), Button: actuator.Left}, actuator.ButtonUp{At: new(point(1)), Button: actuator.Left}), must, ""},
		{"typed after a button went up that was down before", on(editor, actuator.Type{Text: "a"}, actuator.ButtonUp{At: new(point(0)), Button: actuator.Left}), must, ""},
		{"typed over what a drag has marked", on(editor, actuator.Type{Text: "a"}, actuator.Drag{Path: []actuator.Point{point(0), {X: point(0).X + 5, Y: point(0).Y}}, Button: actuator.Left}), harmless, edit},
		{"chosen in a menu by its letter", on(editor, press("s"), actuator.Click{At: new(point(0)), Button: actuator.Right, Count: 1}), must, ""},
		{"chosen in a menu by keys", on(editor, press("enter"), press("shift", "f10"), press("down")), must, ""},
		{"chosen in a menu of the bar", on(editor, press("enter"), press("alt", "f"), press("down")), must, ""},
		{"typed into another window", on(editor, actuator.Type{Text: "a"}, press("alt", "tab")), must, ""},
		{"what a terminal does at Ctrl+O, after a drag", on(editor, press("ctrl", "o"), actuator.Drag{Path: []actuator.Point{point(0), point(1)}, Button: actuator.Left}), must, ""},
		{"Enter after Tab that is held", on(editor, press("enter"), actuator.Hold{Keys: []actuator.Key{"tab"}, Milliseconds: 9}), must, ""},
		{"Space after Tab that stays down", on(editor, press("space"), actuator.KeyDown{Key: "tab"}, actuator.KeyUp{Key: "tab"}), must, ""},
		{"pasted after a tab that was pasted", on(editor, actuator.Paste{Text: new(actuator.Secret("b"))}, actuator.Paste{Text: new(actuator.Secret("a\t"))}), must, ""},
		{"Enter after Tab that is held, in a mail", on(mailText, press("ctrl", "enter"), actuator.Hold{Keys: []actuator.Key{"tab"}, Milliseconds: 9}), must, send},
		{"copied after a drag", on(editor, press("ctrl", "c"), actuator.Drag{Path: []actuator.Point{point(0), point(1)}, Button: actuator.Left}), harmless, navigate},
		{"read after a drag", on(editor, actuator.Copy{}, actuator.Drag{Path: []actuator.Point{point(0), point(1)}, Button: actuator.Left}), harmless, none},
		{"a modifier after a drag", on(editor, actuator.KeyDown{Key: "ctrl"}, actuator.Drag{Path: []actuator.Point{point(0), point(1)}, Button: actuator.Left}), harmless, none},
		{"typed after a drag and a click", on(editor, actuator.Type{Text: "a"}, actuator.Drag{Path: []actuator.Point{point(0), point(1)}, Button: actuator.Left}, click(0)), harmless, edit},
		{"typed after a paste and a note", on(editor, actuator.Type{Text: "a"}, actuator.Paste{Text: new(actuator.Secret("b"))}, actuator.Note{Text: "n"}), harmless, edit},
		// What leaves this computer.
		{"Ctrl+Enter in a mail", on(mailText, press("ctrl", "enter")), must, send},
		{"upload by a command", on(shell, actuator.Type{Text: "curl --data @notes http://x"}), must, send},
		// What is not known asks.
		{"no element at all", on(look("foo", "normal", "x"), click(0)), must, ""},
		{"no observation", run.Intent{Action: click(0)}, must, ""},
		{"a window alone", on(look("foo", "normal", "x", item{role: "label", name: "a"}), click(20)), must, ""},
		{"a button without a label", button("foo", "normal", "x", ""), must, ""},
		{"a button of an unknown word", button("foo", "normal", "x", "Frobnicate"), must, ""},
		{"a script that nobody reads", button("foo", "dialog", "x", "Удалить"), must, ""},
		{"a question nobody understands", button("foo", "dialog", "x", "Yes", item{role: "label", name: "Frobnicate the widgets?"}), must, ""},
		{"text that goes nowhere known", on(look("foo", "normal", "x"), actuator.Type{Text: "a"}), must, ""},
		{"a shortcut of an unknown program", on(look("foo", "normal", "x", item{role: "label", name: "a"}), press("ctrl", "k")), must, ""},
		{"Enter in a page", on(page, press("enter")), must, ""},
		{"a switch of a page", on(page, click(4)), must, edit},
	}
	for e, labels := range map[effect][]string{
		send:     {"Send", "Send Now", "Reply All", "Submit", "Post", "Share", "Senden", "Nachricht absenden", "Envoyer", "Enviar", "Invia", "Compartilhar"},
		del:      {"Delete", "Empty Trash", "Overwrite", "Replace", "Don't Save", "Don’t Save", "Discard", "Remove", "Move to Trash", "_Delete", "Löschen", "Papierkorb leeren", "Nicht speichern", "Verwerfen", "Supprimer", "Vider la corbeille", "Ne pas enregistrer", "Eliminar", "Vaciar papelera", "No guardar", "Elimina", "Svuota cestino", "Non salvare", "Sovrascrivi", "Excluir", "Esvaziar lixeira", "Não salvar"},
		external: {"Pay", "Buy", "Order", "Place order", "Install", "Allow", "Bezahlen", "Jetzt kaufen", "Payer", "Acheter", "Pagar", "Comprar", "Paga", "Acquista", "Aceitar"},
		record:   {"Print", "Sign", "Drucken", "Imprimer", "Imprimir", "Stampa"},
		execute:  {"Execute", "Restart", "Ausführen", "Exécuter", "Ejecutar", "Esegui", "Executar"},
	} {
		for _, label := range labels {
			rows = append(rows, row{"button " + label, button("foo", "dialog", "x", label), must, e})
		}
	}
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			got := guard.Classify(tt.in)
			assert.Equal(t, tt.harmless, got.Harmless, "%+v", got)
			assert.Equal(t, tt.effect, got.Effect, "%+v", got)
			assert.NotEmpty(t, got.Rule)
		})
	}
}

// TestReadElement holds that what was read from the picture and is aimed at by its handle is
// judged by what it says and by what it stands in: a program that tells of no elements may do
// anything there, and a place with something on it is not empty.
func TestReadElement(t *testing.T) {
	for _, tt := range []struct {
		class, kind, holds, text string
		harmless                 bool
		effect                   worldmodel.Effect
	}{
		{"Thunar", "normal", "panel", "holiday.jpg", true, worldmodel.EffectNavigate}, // it is selected
		{"Thunar", "normal", "panel", "Delete", false, worldmodel.EffectDelete},
		{"Thunar", "normal", "panel", "OK", false, ""},
		{"Chromium", "normal", "menu", "OK", false, ""},
		{"XTerm", "normal", "", "All tests passed", true, worldmodel.EffectNavigate},
		{"Gimp", "normal", "panel", "Export", false, ""},
		{"Gimp", "normal", "panel", "Discard all", false, worldmodel.EffectDelete},
		{"Foo", "normal", "", "Next", false, ""},
		{"Foo", "dialog", "panel", "OK", false, ""},
		{"Chromium", "normal", "menu", "Bern", true, worldmodel.EffectNavigate},
		{"Chromium", "normal", "menu", "Delete account", false, worldmodel.EffectDelete},
	} {
		var items []item
		if tt.holds != "" {
			items = []item{{role: tt.holds}}
		}
		on := look(tt.class, tt.kind, "a", items...)
		if items == nil { // what is read stands in its window then
			on.Tree.Nodes = []atspi.Node{{ID: "n1", App: tt.class, PID: 7, Parent: -1, Role: "window", Name: "a", Box: on.Windows[0].Box, Read: true}}
		}
		line := atspi.Node{ID: "n9", PID: 7, Parent: len(on.Tree.Nodes) - 1, Depth: len(on.Tree.Nodes), Role: screen.RoleTextLine, Text: tt.text, Box: image.Rect(10, 4, 390, 16), Read: true}
		on.Tree.Nodes = append(on.Tree.Nodes, line)
		p := point(0)
		p.Element = run.ElementOf("n9", line)
		beside := actuator.Point{X: p.X, Y: line.Box.Max.Y + 3}    // in what is drawn around its text
		for _, at := range []actuator.Point{p, point(0), beside} { // by its handle, and by a pixel
			got := guard.Classify(run.Intent{Action: actuator.Click{At: &at, Button: actuator.Left, Count: 1}, On: on})
			assert.Equal(t, tt.harmless, got.Harmless, "%s %s %v: %+v", tt.class, tt.text, at, got)
			assert.Equal(t, tt.effect, got.Effect, "%s %s %v: %+v", tt.class, tt.text, at, got)
			assert.Contains(t, got.Target, strconv.Quote(tt.text))
		}
	}
	trash := atspi.Node{ID: "n9", PID: 7, Depth: 1, Role: screen.RoleTextLine, Text: "Trash", Box: image.Rect(10, 20, 390, 40), Read: true}
	on := look("Xfdesktop", "desktop", "Desktop", item{role: "icon", name: "notes.txt"})
	on.Tree.Nodes = append(on.Tree.Nodes, trash)
	to := point(1)
	to.Element = run.ElementOf("n9", trash)
	got := guard.Classify(run.Intent{Action: actuator.Drag{Path: []actuator.Point{point(0), to}, Button: actuator.Left}, On: on})
	assert.Equal(t, worldmodel.EffectDelete, got.Effect, "%+v", got)
}

// lines adds lines that were read from the picture, one below the other, 12 pixels high and 4
// apart, to what a window shows.
func lines(on *screen.Observation, parent int, texts ...string) *screen.Observation {
	for i, text := range texts {
		on.Tree.Nodes = append(on.Tree.Nodes, atspi.Node{
			ID: "r" + strconv.Itoa(i), PID: 7, Parent: parent, Depth: 1, Role: screen.RoleTextLine, Text: text, Box: image.Rect(10, 16*i+4, 390, 16*i+16), Read: true,
		})
	}
	return on
}

// TestReadAtAPoint holds which line a click by pixel is judged by, where several are near, and
// where what is there has a name of its own.
func TestReadAtAPoint(t *testing.T) {
	pane := func(class string, texts ...string) *screen.Observation {
		return lines(look(class, "normal", "a", item{role: "layered pane", name: "Icon view"}, item{role: "layered pane"}), 0, texts...)
	}
	for _, tt := range []struct {
		name     string
		on       *screen.Observation
		y        int
		harmless bool
		effect   worldmodel.Effect
	}{
		{"between two, of which one does harm", pane("Thunar", "Move to Trash", "Properties"), 17, false, worldmodel.EffectDelete},
		{"the same from below", pane("Thunar", "Properties", "Move to Trash"), 18, false, worldmodel.EffectDelete},
		{"in one of two", pane("Thunar", "Properties", "Move to Trash"), 15, true, worldmodel.EffectNavigate},
		{"beside none", pane("Thunar", "Move to Trash"), 30, true, worldmodel.EffectNavigate},
		{"a button that tells its name", lines(look("Gimp", "normal", "a", item{role: "push button", name: "Cancel"}), 0, "", "Delete"), 18, true, worldmodel.EffectNavigate},
		{"a cell that does", lines(look("Thunar", "normal", "a", item{role: "table cell", name: "notes.txt"}), 0, "", "Delete"), 18, true, worldmodel.EffectNavigate},
		{"a field without a name", lines(look("Foo", "normal", "a", item{role: "entry"}), 0, "Send a message"), 10, true, worldmodel.EffectNavigate},
		{"what a combo box shows", lines(look("Foo", "normal", "a", item{role: "combo box"}), 1, "Install on Monday"), 10, true, worldmodel.EffectNavigate},
		{"prose of a document", lines(look("Gimp", "normal", "a", item{role: "panel"}), 0, "Send us your feedback by mail"), 10, true, worldmodel.EffectNavigate},
		{"prose of a dialog", lines(look("Gimp", "dialog", "a", item{role: "panel"}), 0, "Send us your feedback by mail"), 10, false, worldmodel.EffectSend},
	} {
		got := guard.Classify(run.Intent{Action: actuator.Click{At: &actuator.Point{X: 200, Y: tt.y}, Button: actuator.Left, Count: 1}, On: tt.on})
		assert.Equal(t, tt.harmless, got.Harmless, "%s: %+v", tt.name, got)
		assert.Equal(t, tt.effect, got.Effect, "%s: %+v", tt.name, got)
	}
	on := pane("Thunar", "Delete account")
	p := point(0)
	p.Element = run.ElementOf("n2", on.Tree.Nodes[1])
	got := guard.Classify(run.Intent{Action: actuator.Click{At: &p, Button: actuator.Left, Count: 1}, On: on})
	assert.Equal(t, worldmodel.EffectDelete, got.Effect, "a container by its handle, in whose middle that stands: %+v", got)
	assert.Equal(t, `text line "Delete account" in layered pane "Icon view" in window "a"`, got.Target)
}

// TestOpenFile holds what a double click and Enter open in a file manager: a file by the name
// that is told, a program where any part of what is read is one, and what else is asked about.
func TestOpenFile(t *testing.T) {
	execute, navigate, edit := worldmodel.EffectExecute, worldmodel.EffectNavigate, worldmodel.EffectEdit
	pane := func(texts ...string) *screen.Observation {
		return lines(look("Thunar", "normal", "a", item{role: "layered pane", name: "Icon view"}), 0, texts...)
	}
	one := func(items ...item) *screen.Observation { return look("Thunar", "normal", "a", items...) }
	table := func(states ...string) *screen.Observation { // with the focus, and rows "run.sh" and "notes.txt"
		on := one(item{"tree table", "Files", "", []string{"focused"}}, item{"table cell", "run.sh", "", states[:1]}, item{"table cell", "notes.txt", "", states[1:]})
		for i := range 2 {
			on.Tree.Nodes[i+2].Parent, on.Tree.Nodes[i+2].Depth = 1, 2
		}
		return on
	}
	cell := one(item{role: "table cell"}, item{role: "label", name: "notes.txt"})
	cell.Tree.Nodes[2].Parent, cell.Tree.Nodes[2].Depth = 1, 2
	twice := actuator.Click{At: new(point(0)), Button: actuator.Left, Count: 2}
	at := func(row int) actuator.Click {
		return actuator.Click{At: new(point(row)), Button: actuator.Left, Count: 2}
	}
	for _, tt := range []struct {
		name   string
		on     *screen.Observation
		done   []actuator.Action
		action actuator.Action
		sure   bool
		effect worldmodel.Effect
	}{
		{"a told file", one(item{role: "icon", name: "notes.txt"}), nil, twice, true, navigate},
		{"a told script", one(item{role: "icon", name: "run.sh"}), nil, twice, false, execute},
		{"a label in a cell without a name", cell, nil, at(1), true, navigate},
		{"a read script", pane("run.sh"), nil, twice, false, execute},
		{"a row read as one line", pane("run.sh 1.2 KiB shell script"), nil, twice, false, execute},
		{"a part of a name", pane("quarterly-update-", "installer.sh"), nil, twice, false, ""},
		{"a read picture", pane("holiday.jpg"), nil, twice, false, ""},
		{"what says that it does harm", pane("Empty Trash"), nil, twice, false, worldmodel.EffectDelete},
		{"a container", pane(), nil, twice, false, ""},
		{"a told button", one(item{role: "push button", name: "Delete"}), nil, twice, false, worldmodel.EffectDelete},
		{"a column's head", one(item{role: "table column header", name: "Name"}), nil, twice, true, navigate},
		{"a place of a table, whatever is selected", table("", "selected"), nil, twice, false, ""},

		{"Enter on what was clicked and read", pane("run.sh"), []actuator.Action{click(0)}, press("enter"), false, execute},
		{"Enter where a script is selected", table("selected", ""), nil, press("enter"), false, execute},
		{"where a text is", table("", "selected"), nil, press("enter"), true, navigate},
		{"where both are", table("selected", "selected"), nil, press("enter"), false, execute},
		{"where nothing is", table("", ""), nil, press("enter"), false, ""},
		{"after Down", table("", "selected"), []actuator.Action{press("down")}, press("enter"), false, ""},
		{"after a name", table("", "selected"), nil, actuator.Type{Text: "run\n"}, false, ""},
		{"after a click at another place", table("", "selected"), []actuator.Action{click(0)}, press("enter"), false, ""},
		{"after a click on the file", table("selected", ""), []actuator.Action{click(2)}, press("enter"), true, navigate},
		{"a focused file, another selected", one(item{"icon", "notes.txt", "", []string{"focused"}}, item{"icon", "run.sh", "", []string{"selected"}}), nil, press("enter"), false, execute},
		{"in the field of the folder", one(focused("entry", "", "/tmp")), nil, press("enter"), true, navigate},
		{"on a button of the path", one(item{"toggle button", "home", "", []string{"focused"}}), nil, press("enter"), true, edit},
	} {
		got := guard.Classify(run.Intent{Action: tt.action, On: tt.on, Done: tt.done})
		assert.Equal(t, tt.sure, got.Harmless, "%s: %+v", tt.name, got)
		assert.Equal(t, tt.effect, got.Effect, "%s: %+v", tt.name, got)
	}
}

// TestPartOfATree holds that what is missing of a program that did not answer in time makes
// nothing look safe, and that it says nothing of other programs.
func TestPartOfATree(t *testing.T) {
	home := &guard.Workspace{Home: "/tmp/desk-1/home"}
	question := look("foo", "dialog", "Line spacing", item{role: "label", name: "How many lines?"}, item{role: "push button", name: "OK"}, item{role: "push button", name: "Cancel"})
	editor := look("Mousepad", "normal", "notes.txt - Mousepad", focused("text", "", "Hello"))
	nowhere := look("Mousepad", "normal", "notes.txt - Mousepad", item{role: "label", name: "a"})
	saveAs := look("Mousepad", "dialog", "Save As", focused("text", "Name:", "old.txt"), item{role: "push button", name: "Save"})
	folder := look("Thunar", "normal", "Documents - Thunar", item{"icon", "Archive", "", []string{"focused"}}, item{role: "label", name: "a"})
	drag := actuator.Drag{Path: []actuator.Point{point(0), point(0)}, Button: actuator.Left}
	for _, tt := range []struct {
		name     string
		on       *screen.Observation
		action   actuator.Action
		harmless bool // also if only a part is told
		free     bool // in a workspace, if all is told
	}{
		{"OK of a dialog", question, click(1), false, true},
		{"Enter in a dialog", question, press("enter"), false, true},
		{"alt with a letter in a dialog", question, press("alt", "o"), false, true},
		{"typed into a dialog", question, actuator.Type{Text: "a"}, false, true},
		{"save where the list of names is missing", saveAs, click(1), false, true},
		{"Enter in a document", editor, press("enter"), false, true},
		{"typed where the focus is not told", nowhere, actuator.Type{Text: "a"}, false, true},
		{"a file, of which a button may be missing", folder, click(0), false, true},
		{"Delete in a file manager", folder, press("delete"), false, true},
		{"text that is marked", editor, drag, false, true},
		{"set a field", editor, actuator.Set{At: point(0), Text: "x"}, false, true},
		{"Escape", question, press("esc"), true, true},
		{"a modifier", question, actuator.KeyDown{Key: "shift"}, true, true},
		{"scroll", folder, actuator.Scroll{At: new(point(0)), DY: 3}, true, true},
		{"copy", editor, actuator.Copy{}, true, true},
		{"wait", editor, actuator.Wait{Milliseconds: 5}, true, true},
	} {
		whole := guard.Classify(run.Intent{Action: tt.action, On: tt.on})
		assert.Equal(t, tt.free, home.Free(whole), "%s: %+v", tt.name, whole)
		for _, program := range []atspi.Program{{Name: tt.on.Windows[0].Class, PID: 7}, {Name: ":1.7"}} {
			part := *tt.on
			part.Tree.Hung = []atspi.Program{program}
			got := guard.Classify(run.Intent{Action: tt.action, On: &part})
			assert.Equal(t, tt.harmless, got.Harmless, "%s: %+v", tt.name, got)
			if !tt.harmless {
				assert.False(t, home.Free(got), "%s: %+v", tt.name, got)
			}
		}
		part := *tt.on
		part.Tree.Hung = []atspi.Program{{Name: "other", PID: 99}}
		assert.Equal(t, whole, guard.Classify(run.Intent{Action: tt.action, On: &part}), tt.name)
	}
	for name, in := range map[string]run.Intent{ // out of the window of one program, within that of another
		"a drag":    {Action: actuator.Drag{Path: []actuator.Point{point(0), point(1)}, Button: actuator.Left}},
		"from here": {Action: actuator.Drag{Path: []actuator.Point{point(1)}, Button: actuator.Left}, Done: []actuator.Action{actuator.Move{At: point(0)}}},
		"by hand":   {Action: actuator.ButtonUp{At: new(point(1)), Button: actuator.Left}, Done: []actuator.Action{actuator.ButtonDown{At: new(point(0)), Button: actuator.Left}}},
	} {
		on := look("Mousepad", "normal", "notes.txt - Mousepad", item{role: "text"}, item{role: "text"})
		on.Tree.Nodes[1].PID = 9
		in.On = on
		assert.True(t, guard.Classify(in).Harmless, name)
		on.Tree.Hung = []atspi.Program{{Name: "other", PID: 9}}
		assert.False(t, guard.Classify(in).Harmless, name)
	}
	tool := run.Intent{Action: actuator.CallTool{Tool: "read_file"}, Effect: worldmodel.EffectNone, On: &screen.Observation{Tree: screen.Tree{Hung: []atspi.Program{{Name: "foo", PID: 7}}}}}
	assert.True(t, guard.Classify(tool).Harmless, "a tool goes to no program of the screen")
}

// TestWorkspace holds what is free in a workspace of our own: its files, and nothing
// that leaves it.
func TestWorkspace(t *testing.T) {
	home := &guard.Workspace{Home: "/tmp/desk-1/home"}
	trash := look("Thunar", "normal", "Documents - Thunar", item{"icon", "Archive", "", []string{"focused"}})
	outside := look("Thunar", "normal", "/etc/myapp - Thunar", item{"icon", "Archive", "", []string{"focused"}})
	inside := look("Thunar", "normal", "/tmp/desk-1/home/Documents - Thunar", item{"icon", "Archive", "", []string{"focused"}})
	for _, tt := range []struct {
		name string
		in   run.Intent
		home *guard.Workspace
		want bool
	}{
		{"delete a file of it", run.Intent{Action: press("delete"), On: trash}, home, true},
		{"the same without a workspace", run.Intent{Action: press("delete"), On: trash}, nil, false},
		{"a path of it", run.Intent{Action: press("delete"), On: inside}, home, true},
		{"a path outside", run.Intent{Action: press("delete"), On: outside}, home, false},
		{"a workspace beside", run.Intent{Action: press("delete"), On: look("Thunar", "normal", "/tmp/desk-1/home-of-ada - Thunar", item{"icon", "a", "", []string{"focused"}})}, home, false},
		{"a folder outside, in the field of the folder", run.Intent{Action: press("delete"), On: look("Thunar", "normal", "myapp - Thunar", item{role: "text", text: "/etc/myapp/"}, item{"icon", "Archive", "", []string{"focused"}})}, home, false},
		{"save", run.Intent{Action: press("ctrl", "s"), On: look("Mousepad", "normal", "a", focused("text", "", ""))}, home, true},
		{"send a mail", run.Intent{Action: press("ctrl", "enter"), On: look("thunderbird", "normal", "Write", focused("document text", "", ""))}, home, false},
		{"delete a mail", run.Intent{Action: press("delete"), On: look("thunderbird", "normal", "Inbox", item{"table cell", "a", "", []string{"focused"}})}, home, false},
		{"a command", run.Intent{Action: press("enter"), On: look("XTerm", "", "Terminal")}, home, false},
		{"a tool, with an editor on the screen", run.Intent{Action: actuator.CallTool{Tool: "wipe"}, Effect: worldmodel.EffectDelete, On: look("Mousepad", "normal", "a", focused("text", "", ""))}, home, false},
		{"an unknown effect", button("foo", "normal", "x", "Frobnicate"), home, false},
	} {
		c := guard.Classify(tt.in)
		assert.False(t, c.Harmless, tt.name)
		assert.Equal(t, tt.want, tt.home.Free(c), tt.name)
	}
}
