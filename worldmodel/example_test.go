package worldmodel_test

import (
	"fmt"

	"desktop-agent/worldmodel"
)

// The world model claims; the screen decides.
func ExampleProgress() {
	began := editor("f1", 0, "Untitled 1 - Editor", "Open…")
	now := editor("f2", 5, "Untitled 1 - Editor", "Open…", "Save As…")
	for _, quote := range []string{"Save As…", "Open…", "Save All"} {
		_, evidence, why := worldmodel.Progress(plan(), &worldmodel.Assessment{ProgressStep: 2, Evidence: quote}, now, worldmodel.Past{Began: began})
		fmt.Printf("%s: %s\n", evidence.Grade, why)
	}
	// Output:
	// proved: step 1 is completed (proved): the screen has "Save As…"
	// claimed: step 1 is completed (claimed): the screen has "Open…", but it stood there from the start
	// claimed: step 1 is completed (claimed): "Save All" is not in what the programs tell; that the picture shows it is the world model's word
}
