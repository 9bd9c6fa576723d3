// Package picture reads images and compares them the way the Python libraries do
// that tasks were written for: [Image] has Pillow's modes and conversions,
// [Image.Resize] its fixed-point resampling, [SSIM] is scikit-image's structural
// similarity, and [PHash] the perceptual hash of ImageHash.
//
//	a, err := picture.Open("result.png")
//	b, err := picture.Open("expected.png")
//	s, err := picture.SSIM(a, b) // 1 if they are the same
//
// PNG, JPEG, GIF (the first frame), BMP, TIFF and WebP are read. A JPEG or lossy
// WebP is decoded within a few steps per sample of what Pillow gives, and samples
// of 16 bits are cut to eight, which Pillow clips; all that follows is exact, or
// differs by rounding of floating-point numbers only. TIFF in CMYK, or in grey
// with alpha, is not read.
//
// Images are untrusted: their size is read before their pixels, and no damage
// makes the package panic.
package picture
