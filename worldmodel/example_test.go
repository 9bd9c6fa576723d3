package worldmodel_test

import (
	"fmt"

	"desktop-agent/worldmodel"
)

// The world model claims; the screen decides.
func ExampleProgress() {
	now := editor("f2", 5, "Untitled 1 - Editor", "Open…", "Save As…")
	for _, quote := range []string{"Save All", "Save As…"} {
		evidence, why := worldmodel.Progress(plan(), &worldmodel.Assessment{ProgressStep: 2, Evidence: quote}, now)
		fmt.Println(evidence != nil, why)
	}
	// Output:
	// false step 1 goes on: the quoted evidence "Save All" is not on the screen
	// true step 1 is completed: the screen has "Save As…"
}
