//go:build !linux

package plant

import "errors"

// An opening tells whether a file was opened, or the names in a folder were listed.
type opening struct{}

func newOpening(string) (*opening, error) { return nil, errors.ErrUnsupported }

func (*opening) opened() (bool, error) { return false, errors.ErrUnsupported }

func (*opening) close() error { return nil }
