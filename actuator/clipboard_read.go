package actuator

import (
	"context"
	"fmt"
)

// A clipboardReader is a back end that can read the clipboard without a program's help.
type clipboardReader interface {
	// clipboard returns the clipboard's text. owned is false where no program
	// has put anything on it.
	clipboard(ctx context.Context) (text string, owned bool, err error)
}

// Clipboard reads the text on the clipboard and leaves it as it is. owned is
// false where no program has put anything on it; it is true, with an error,
// where a program has put something there that is no text. Sessions whose
// clipboard cannot be read refuse.
func (d *Device) Clipboard(ctx context.Context) (text Secret, owned bool, err error) {
	r, ok := d.backend.(clipboardReader)
	if !ok {
		return "", false, fmt.Errorf("%w: the clipboard cannot be read in this session", ErrRefused)
	}
	s, err := d.run(ctx, func() (s string, err error) {
		s, owned, err = r.clipboard(ctx)
		return s, err
	})
	return Secret(s), owned, err
}
