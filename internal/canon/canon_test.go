package canon

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestJSON(t *testing.T) {
	for _, same := range [][]string{
		{`{"to":"a","text":"b"}`, "{ \"text\": \"b\",\n\t\"to\": \"a\" }", ` {"text":"\u0062","to":"a"}`},
		{`[1,{"b":2,"a":[]}]`, `[1.0, {"a": [], "b": 2e0}]`},
		{``, ` `},
		{`{"a":`, ` {"a": `},
	} {
		for _, text := range same {
			assert.Equal(t, JSON(same[0]), JSON(text))
			assert.Equal(t, JSON(text), JSON(JSON(text)))
		}
	}
	for _, others := range [][2]string{
		{`{"to":"a"}`, `{"to":"A"}`}, {`[1,2]`, `[2,1]`}, {`{"a":1}`, `{"a":"1"}`}, {`{}`, ``}, {`{"a":1,"a":2}`, `{"a":2}`},
	} {
		assert.NotEqual(t, JSON(others[0]), JSON(others[1]))
	}
}
