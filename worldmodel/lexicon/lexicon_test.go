package lexicon

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"desktop-agent/worldmodel"
)

// TestLabel has for each thing that is asked of a label one in each language that is of that
// kind, and ones that look like it and are not.
func TestLabel(t *testing.T) {
	for name, c := range map[string]struct {
		is      func(Label) bool
		yes, no []string
	}{
		"saving": {Label.Saving, []string{"Save", "_Save", "Save Document", "Keep Current Format!", "Use Word 2007-365!", "Use Excel 2007-365!", "Use ODF format!", "Overwrite", "Speichern", "Enregistrer sous", "Guardar", "Salva con nome", "Gravar"},
			[]string{"Saved searches", "Don't Save", "Nicht speichern", "Use Text CSV Format!", "Create Folder", "Open", "No guardar", ""}},
		"sending": {Label.Sending, []string{"Send", "Send Later", "Submit", "Place Order", "Buy now", "Confirm booking", "Absenden", "Bestätigen", "Kostenpflichtig bestellen", "Envoyer", "Enviar", "Invia", "Pagar"},
			[]string{"Send to Back", "Sender", "Order By", "Postcode", "Book1.ods", "Buyer", "Forward", "Install", "Update", "Log in", ""}},
		"agrees": {Label.Agrees, []string{"OK", "Yes", "Replace", "Ersetzen"}, []string{"Create Folder", "Rename", "Delete", "Cancel"}},
		"editing": {Label.Editing, []string{"Paste", "Sort Ascending", "Bold", "Rückgängig", "Fett", "Coller", "Negrita", "Inserisci", "Colar"},
			[]string{"Find", "Sorted by date", "Copy", "Öffnen", ""}},
		"saves":     {Label.Saves, []string{"Save", "Save As…", "Speichern unter"}, []string{"Save Document", "Overwrite"}},
		"harmless":  {Label.Harmless, []string{"Cancel", "Abbrechen", "Fermer"}, []string{"Cancel order", "Delete"}},
		"misleads":  {Label.Misleads, []string{"Send to Back", "Clear Formatting"}, []string{"Send", "Clear"}},
		"confirms":  {Label.Confirms, []string{"OK", "Yes", "Ja", "Rename"}, []string{"No", "Delete"}},
		"answers":   {Label.Answers, []string{"Yes", "Oui"}, []string{"OK", "Apply"}},
		"trash":     {Label.Trash, []string{"Move to Trash", "Papierkorb", "Lixeira"}, []string{"Trashy", "Home"}},
		"a script":  {Label.Legible, []string{"Löschen"}, []string{"Удалить", "削除", "123", ""}},
		"a dialog":  {func(l Label) bool { return Asks(string(l)) }, []string{"Save As…", "Print... "}, []string{"Save As", "…"[:0]}},
		"unknown":   {func(l Label) bool { _, ok := l.Means(); return !ok }, []string{"Frobnicate", "Informe"}, []string{"Delete", "Löschen"}},
		"undone":    {func(l Label) bool { m, _ := l.Means(); return m.Soft }, []string{"Replace All", "Cut"}, []string{"Discard", "Send"}},
		"what runs": {func(l Label) bool { m, _ := l.Means(); return m.Effect == worldmodel.EffectExecute }, []string{"Restart", "Ausführen"}, []string{"Running total"}},
	} {
		t.Run(name, func(t *testing.T) {
			of := LabelOf
			if name == "a dialog" { // is asked of the name: its dots are no part of the label
				of = func(s string) Label { return Label(s) }
			}
			for _, l := range c.yes {
				assert.True(t, c.is(of(l)), l)
			}
			for _, l := range c.no {
				assert.False(t, c.is(of(l)), l)
			}
		})
	}
}

func TestSaid(t *testing.T) {
	for text, want := range map[string]worldmodel.Effect{
		"A file of that name already exists.\nReplace it?": worldmodel.EffectDelete,
		"Die Nachricht wird gesendet und danach gelöscht.": worldmodel.EffectSend, // the worse of two
		"The document has 12 pages.":                       "",
		"Undeleted items":                                  "",
		"Voulez-vous imprimer\n le document ?":             worldmodel.EffectRecord,
		"Do you want to  install the update?":              worldmodel.EffectModifyExternal,
	} {
		assert.Equal(t, want, Said(text), text)
	}
}

// TestPrograms holds that a class is of one kind, and that each kind is one of those that are named.
func TestPrograms(t *testing.T) {
	kinds := map[string]Program{}
	for kind, list := range words.Programs {
		assert.Contains(t, []Program{Terminal, Files, Mail, Chat, Browser, Document}, kind)
		for _, class := range list {
			assert.NotContains(t, kinds, class)
			kinds[class] = kind
		}
	}
}

func TestProgramOf(t *testing.T) {
	for class, want := range map[string]Program{"XTerm": Terminal, "Thunar": Files, "thunderbird": Mail, "Signal": Chat, "Chromium": Browser, "libreoffice-calc": Document, "Eyes": Another, "": Another} {
		assert.Equal(t, want, ProgramOf(class), class)
	}
}
