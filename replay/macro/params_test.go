package macro

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/run"
)

// TestParams holds which texts are found to be parameters.
func TestParams(t *testing.T) {
	for _, tt := range []struct {
		name, task string
		texts      []string
		want       []Param
	}{
		{"none", "Write a letter", []string{"Dear Ann"}, nil},
		{"whole", "Search for red shoes", []string{"red shoes\n"}, []Param{{Name: "text1", Text: "red shoes", Steps: []int{1}}}},
		{"a list, and one of it later", "Write milk, bread, apples. Replace bread by cheese", []string{"milk\nbread\napples", "bread", "cheese"}, []Param{
			{Name: "text1", Text: "milk", Steps: []int{1}}, {Name: "text2", Text: "bread", Steps: []int{1, 2}},
			{Name: "text3", Text: "apples", Steps: []int{1}}, {Name: "text4", Text: "cheese", Steps: []int{3}}}},
		{"file name in a path", "Save as list.txt, then as b.csv", []string{"/tmp/x/list.txt", "b.csv"}, []Param{
			{Name: "file", Text: "list.txt", Steps: []int{1}}, {Name: "file2", Text: "b.csv", Steps: []int{2}}}},
		{"quoted", `Answer "see you soon" to him`, []string{"Hi,\nsee you soon\nBob"}, []Param{{Name: "text1", Text: "see you soon", Steps: []int{1}}}},
		{"address", "Write to ann@example.org", []string{"To: ann@example.org now"}, []Param{{Name: "text1", Text: "ann@example.org", Steps: []int{1}}}},
		{"not a part of a word", "Open the cat folder", []string{"concatenate"}, nil},
		{"not a letter without its accent", `Search for "cafe"`, []string{"cafe\u0301 noir"}, nil},
		{"a name in a script without spaces", "写信给张三，然后保存", []string{"张三"}, []Param{{Name: "text1", Text: "张三", Steps: []int{1}}}},
		{"a single letter", "Press a", []string{"a"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var steps []taken
			for _, text := range tt.texts {
				steps = append(steps, taken{actions: []actuator.Action{typed(text)}})
			}
			assert.Equal(t, tt.want, recorded(t, tt.task, editor, steps...).Params())
		})
	}
}

// TestSet holds that a value is typed, and expected in titles.
func TestSet(t *testing.T) {
	m := recorded(t, "Write milk, bread. Save as list.txt", editor,
		taken{actions: []actuator.Action{typed("milk\nbread")}}, taken{actions: []actuator.Action{typed("/x/list.txt")}})
	require.NoError(t, m.Set("file", "a.md"))
	require.NoError(t, m.Set("text1", "bread"))
	require.NoError(t, m.Set("text2", "milk"))
	assert.Equal(t, typed("bread\nmilk"), m.given(&m.Steps[0].Actions[0]), "what was put in is not replaced again")
	assert.Equal(t, typed("/x/a.md"), m.given(&m.Steps[1].Actions[0]))
	assert.Equal(t, "a.md - Pad", m.sub("list.txt - Pad"))
	assert.Equal(t, "mylist.txt", m.sub("mylist.txt"))
	assert.EqualError(t, m.Set("flie", "x"), `parameter "flie" is unknown: did you mean "file"? There are: text1, text2, file`)
	require.ErrorContains(t, m.Set("file", "a\x00b"), "cannot be typed")
	assert.Equal(t, typed("/x/a.md"), m.given(&m.Steps[1].Actions[0]), "a value that is refused changes nothing")
}

// TestSetWithoutSpaces holds that a value is expected also where a script puts no space
// around the word that it stands for.
func TestSetWithoutSpaces(t *testing.T) {
	m := recorded(t, "写信给 张三", editor, taken{actions: []actuator.Action{typed("张三")}})
	require.NoError(t, m.Set("text1", "李四"))
	assert.Equal(t, "发给李四的信", m.sub("发给张三的信"))
}

// TestSecret holds that a text which is not recorded must be given, and is not
// recorded again.
func TestSecret(t *testing.T) {
	secret := taken{actions: []actuator.Action{typed("•")}, params: []run.Param{{Index: 0, Name: "password", Secret: true}}}
	m := recorded(t, "Log in", editor, secret)
	assert.Equal(t, []Param{{Name: "password", Secret: true, Steps: []int{1}}}, trimmed(m.Params()))
	d := &fakeDesktop{draft: editor}
	_, err := on(&Player{}, d, &run.Memory{}).Play(t.Context(), m)
	require.ErrorContains(t, err, "parameter password of step 1 is secret")
	assert.Zero(t, d.looks, "nothing is done before")

	_, steps, err := play(t, &Player{Desktop: d, Params: map[string]string{"password": "hunter2"}}, m)
	require.NoError(t, err)
	assert.Equal(t, []actuator.Action{typed("hunter2")}, d.did)
	assert.Equal(t, typed("•"), steps[1].Acts[0].Action.Action)
	assert.Equal(t, []run.Param{{Index: 0, Name: "password", Secret: true}}, steps[1].Proposal().Params)
}

// TestDeclared holds that a caller may name a text.
func TestDeclared(t *testing.T) {
	m := recorded(t, "", editor, taken{actions: []actuator.Action{typed("Dear Ann")}})
	m.params = nil
	require.NoError(t, m.findParams(nil, map[string]string{"who": "Ann"}))
	require.NoError(t, m.Set("who", "Bob"))
	assert.Equal(t, typed("Dear Bob"), m.given(&m.Steps[0].Actions[0]))
	m.params = nil
	require.ErrorContains(t, m.findParams(nil, map[string]string{"who": "Eve"}), "is typed nowhere")
}

func trimmed(list []Param) []Param {
	for i := range list {
		list[i].whole = nil
	}
	return list
}
