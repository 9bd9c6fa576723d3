package media

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type sound struct{ seconds, shift, level float64 }

// tune is the function of the same name in testdata/golden.py.
func (s sound) tune() []float64 {
	out := make([]float64, int(sampleRate*s.seconds))
	for n := range out {
		t := float64(n) / sampleRate
		out[n] = math.Sin(2 * math.Pi * (300 + s.shift + 200*t) * t)
		if n%5512 < 2205 {
			out[n] += 0.5 * math.Sin(2*math.Pi*1700*t)
		}
		out[n] *= s.level
	}
	return out
}

type soundGolden struct {
	MFCC  [][]float64
	Pairs []struct {
		A, B     [3]float64
		Distance float64
		Length   int
	}
}

func readSoundGolden(t *testing.T) (g soundGolden) {
	t.Helper()
	data, err := os.ReadFile("testdata/golden.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &g))
	return g
}

func TestMFCC(t *testing.T) {
	g := readSoundGolden(t)
	got := mfcc(sound{1.3, 0, 0.4}.tune(), sampleRate)
	require.Len(t, got, 56)
	for i, f := range []int{0, 1, 17, 40, 55} {
		assert.InDeltaSlice(t, g.MFCC[i], got[f], 1e-6, "frame %d", f)
	}
}

func TestAlign(t *testing.T) {
	g := readSoundGolden(t)
	require.NotEmpty(t, g.Pairs)
	features := func(s [3]float64) [][]float64 {
		return normalise(mfcc(sound{s[0], s[1], s[2]}.tune(), sampleRate))
	}
	for _, tt := range g.Pairs {
		distance, length := align(features(tt.A), features(tt.B))
		assert.InEpsilon(t, tt.Distance, distance, 1e-6, "%v", tt)
		assert.Equal(t, tt.Length, length, "%v", tt)
	}
}

func TestAlignSame(t *testing.T) {
	for _, seconds := range []float64{0.001, 0.05, 0.1, 2} {
		f := normalise(mfcc(sound{seconds, 0, 0.4}.tune(), sampleRate))
		distance, length := align(f, f)
		assert.InDelta(t, 0, distance, 1e-9)
		assert.Equal(t, len(f), length)
	}
	silence := normalise(mfcc(make([]float64, 22050), sampleRate))
	distance, _ := align(silence, silence)
	assert.Zero(t, distance)
	for k := 1; k < mfccs; k++ {
		assert.Zero(t, silence[3][k], "noise of rounding is not a sound")
	}
}

// Sequences of very different lengths, and of lengths around powers of two, have
// a path from the first pair to the last.
func TestAlignLengths(t *testing.T) {
	long := normalise(mfcc(sound{3, 100, 0.2}.tune(), sampleRate))
	for n := 1; n < len(long); n = n*3/2 + 1 {
		_, path := fastDTW(long[:n], long)
		assert.Equal(t, cell{n - 1, len(long) - 1}, path[0])
		assert.Equal(t, cell{0, 0}, path[len(path)-1])
		_, length := align(long, long[:n])
		assert.GreaterOrEqual(t, length, len(long))
	}
}
