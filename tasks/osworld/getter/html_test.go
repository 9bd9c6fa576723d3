package getter

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"desktop-agent/tasks/osworld/defect"
)

// Of several texts with the same key any in the URL will do; the original looks for the
// first alone.
func TestInURL(t *testing.T) {
	find := func(of defect.Set) map[string]any {
		g := &getter{o: Options{Defects: of}, p: params("url_include_expected", []any{"Sale"},
			"url_include_expected_multichoice", map[string]any{"bat": "Hero", "spider": "Hero", "cat": "Other"})}
		found := map[string]any{"other": true}
		g.inURL(found, "http://shop/sale?q=spiderman")
		return found
	}
	assert.Equal(t, map[string]any{"other": true, "sale": true, "hero": true}, find(0))
	assert.Equal(t, map[string]any{"other": true, "sale": true, "hero": false}, find(defect.When(true)))
	proof.Case("active_tab_html_parse", func(of defect.Set) string { return fmt.Sprint(find(of)) })
}
