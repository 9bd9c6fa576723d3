package actuator

import (
	"context"
	"image"
)

// New actions that each lack something: none of these lines may compile.
type (
	noCheck   struct{}
	noWords   struct{}
	noPerform struct{}
)

func (noCheck) describe(describer) string   { return "" }
func (noPerform) describe(describer) string { return "" }
func (noWords) check() error                { return nil }
func (noPerform) check() error              { return nil }

func (noCheck) perform(context.Context, *Device, []image.Point) (string, error) { return "", nil }
func (noWords) perform(context.Context, *Device, []image.Point) (string, error) { return "", nil }

var (
	_ Action = noCheck{}
	_ Action = noWords{}
	_ Action = noPerform{}
	_        = variantOf[Move](traits{Input, seen, anywhere}, "a_trait_less", "One trait is missing.")
	_        = variantOf[Move]("traitless", "All are.")
)
