package media

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

// The settings of librosa's feature.mfcc when none are given.
const (
	fftSize = 2048
	hopSize = 512
	melSize = 128
	mfccs   = 20
	topDB   = 80    // below the loudest, that are told apart
	minPow  = 1e-10 // that is told from silence
)

// mfcc returns the mel-frequency cepstral coefficients of a sound, by frame, as
// librosa (0.10) defines them: the power spectrum under a periodic Hann window of
// 2048 samples every 512, the sound padded with silence on both sides; 128
// triangular filters on Slaney's mel scale, each of the same area; decibels, at
// most 80 below the loudest; and the first 20 of the orthonormal cosine transform
// of type II.
func mfcc(samples []float64, rate float64) [][]float64 {
	bank := melBank(rate)
	fft := fourier.NewFFT(fftSize)
	window := make([]float64, fftSize)
	for i := range window {
		window[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/fftSize)
	}
	buf := make([]float64, fftSize)
	var spectrum []complex128
	frames := make([][]float64, 1+len(samples)/hopSize)
	loudest := math.Inf(-1)
	for f := range frames {
		start := f*hopSize - fftSize/2
		for i := range buf {
			buf[i] = 0
			if at := start + i; at >= 0 && at < len(samples) {
				buf[i] = samples[at] * window[i]
			}
		}
		spectrum = fft.Coefficients(spectrum, buf)
		frames[f] = make([]float64, melSize)
		for j, filter := range bank {
			db := 10 * math.Log10(max(minPow, filter.power(spectrum)))
			frames[f][j] = db
			loudest = max(loudest, db)
		}
	}
	basis := cosines()
	for f, bands := range frames {
		for j := range bands {
			bands[j] = max(bands[j], loudest-topDB)
		}
		frames[f] = transform(bands, basis)
	}
	return frames
}

// A melFilter weighs the spectrum from one bin on.
type melFilter struct {
	first   int
	weights []float64
}

func (f melFilter) power(spectrum []complex128) (sum float64) {
	for i, w := range f.weights {
		c := spectrum[f.first+i]
		sum += w * (real(c)*real(c) + imag(c)*imag(c))
	}
	return sum
}

func melBank(rate float64) []melFilter {
	edges := make([]float64, melSize+2) // in Hz
	for i := range edges {
		edges[i] = fromMel(toMel(rate/2) * float64(i) / (melSize + 1))
	}
	bank := make([]melFilter, melSize)
	for j := range bank {
		low, mid, high := edges[j], edges[j+1], edges[j+2]
		for bin := range fftSize/2 + 1 {
			hz := float64(bin) * rate / fftSize
			w := min((hz-low)/(mid-low), (high-hz)/(high-mid))
			if w <= 0 {
				continue
			}
			if len(bank[j].weights) == 0 {
				bank[j].first = bin
			}
			bank[j].weights = append(bank[j].weights, w*2/(high-low))
		}
	}
	return bank
}

// Slaney's mel scale is linear up to 1 kHz and logarithmic from there.
const (
	linearHz  = 200.0 / 3 // per mel
	breakHz   = 1000.0
	breakMel  = breakHz / linearHz
	perOctave = 27.0 // mel from breakHz to 6.4 times as much
)

func toMel(hz float64) float64 {
	if hz < breakHz {
		return hz / linearHz
	}
	return breakMel + math.Log(hz/breakHz)*perOctave/math.Log(6.4)
}

func fromMel(mel float64) float64 {
	if mel < breakMel {
		return mel * linearHz
	}
	return breakHz * math.Exp((mel-breakMel)*math.Log(6.4)/perOctave)
}

func cosines() [][]float64 {
	basis := make([][]float64, mfccs)
	for k := range basis {
		scale := math.Sqrt(2.0 / melSize)
		if k == 0 {
			scale = math.Sqrt(1.0 / melSize)
		}
		basis[k] = make([]float64, melSize)
		for n := range basis[k] {
			basis[k][n] = scale * math.Cos(math.Pi*float64(k)*(2*float64(n)+1)/(2*melSize))
		}
	}
	return basis
}

func transform(v []float64, basis [][]float64) []float64 {
	out := make([]float64, len(basis))
	for k, row := range basis {
		for n, c := range row {
			out[k] += c * v[n]
		}
	}
	return out
}

// normalise divides each coefficient by its largest magnitude over all frames, in
// place. One that is nothing but rounding becomes 0: it would be made noise.
func normalise(frames [][]float64) [][]float64 {
	for k := range mfccs {
		largest := 0.0
		for _, f := range frames {
			largest = max(largest, math.Abs(f[k]))
		}
		for _, f := range frames {
			if largest < 1e-9 {
				f[k] = 0
			} else {
				f[k] /= largest
			}
		}
	}
	return frames
}
