package text_test

import (
	"context"
	"fmt"

	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/metric/text"
)

func ExampleMetrics() {
	metrics := text.Metrics(text.Options{})
	score, err := metrics["check_include_exclude"](context.Background(), "3 files copied\n",
		tasks.Params{"include": "copied", "exclude": "error"}, nil)
	fmt.Println(score.Value, err)
	score, err = metrics["exact_match"](context.Background(), "no\n", tasks.Params{"expected": "yes\n"}, nil)
	fmt.Println(score.Value, score.Why, err)
	// Output:
	// 1 <nil>
	// 0 got "no\n", want "yes\n" <nil>
}
