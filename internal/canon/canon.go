// Package canon tells whether two texts of JSON say the same:
//
//	canon.JSON(`{"to": "a", "n": 1.0}`) == canon.JSON(`{"n":1,"to":"a"}`)
package canon

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON returns a text in the canonical form of RFC 8785, which is the same for all texts that
// hold the same value: names in order, no space, numbers as of float64. What is no JSON, or
// says one name twice, is returned as it is, without space around it.
func JSON(text string) string {
	v := jsontext.Value(strings.TrimSpace(text))
	if v.Canonicalize() != nil {
		return strings.TrimSpace(text)
	}
	return string(v)
}
