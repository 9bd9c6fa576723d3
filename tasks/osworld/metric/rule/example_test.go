package rule_test

import (
	"fmt"

	"desktop-agent/tasks/osworld/metric/rule"
)

func ExampleRule_Holds() {
	fmt.Println(rule.Rule{Method: "re.I", Ref: "^report"}.Holds("Report 7"))
	fmt.Println(rule.Rule{Method: "range.te", Ref: []any{0, 2}}.Holds(2.0))
	fmt.Println(rule.Rule{Method: "approx:0.01", Ref: 0.5}.Holds("0.52"))
	// Output:
	// true <nil>
	// true <nil>
	// false <nil>
}
