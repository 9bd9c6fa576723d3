package screen

import "image"

// A Mapping tells where an image lies on the desktop. It belongs to one frame.
// Its two methods are exact: for an image that is not larger than its source,
// ToImage(ToDevice(p)) is p; for one that is not smaller, ToDevice(ToImage(d)) is d.
type Mapping struct {
	Source image.Rectangle // the part of the desktop shown, in device pixels
	Size   image.Point     // the size of the image, in its own pixels
}

// known reports whether there is an image.
func (m Mapping) known() bool { return !m.Source.Empty() && m.Size.X > 0 && m.Size.Y > 0 }

// Bounds returns the image's rectangle.
func (m Mapping) Bounds() image.Rectangle { return image.Rectangle{Max: m.Size} }

// ToDevice returns the device pixel under the centre of an image pixel.
func (m Mapping) ToDevice(p image.Point) image.Point {
	return image.Pt(
		m.Source.Min.X+rescale(p.X, m.Size.X, m.Source.Dx()),
		m.Source.Min.Y+rescale(p.Y, m.Size.Y, m.Source.Dy()))
}

// ToImage returns the image pixel under the centre of a device pixel.
func (m Mapping) ToImage(p image.Point) image.Point {
	return image.Pt(
		rescale(p.X-m.Source.Min.X, m.Source.Dx(), m.Size.X),
		rescale(p.Y-m.Source.Min.Y, m.Source.Dy(), m.Size.Y))
}

// deviceRect returns the device pixels that an area of the image shows, also in part.
func (m Mapping) deviceRect(r image.Rectangle) image.Rectangle {
	floor := func(v, from, to int) int { return v * to / from }
	ceil := func(v, from, to int) int { return (v*to + from - 1) / from }
	return image.Rect(
		floor(r.Min.X, m.Size.X, m.Source.Dx()), floor(r.Min.Y, m.Size.Y, m.Source.Dy()),
		ceil(r.Max.X, m.Size.X, m.Source.Dx()), ceil(r.Max.Y, m.Size.Y, m.Source.Dy()),
	).Add(m.Source.Min).Intersect(m.Source)
}

// rescale maps the centre of pixel v of a row of from pixels to a row of to
// pixels: floor((v + 1/2) * to / from), in whole numbers.
func rescale(v, from, to int) int {
	if from <= 0 {
		return 0 // there is no such pixel
	}
	n, d := (2*v+1)*to, 2*from
	if n < 0 {
		return -((-n + d - 1) / d)
	}
	return n / d
}
