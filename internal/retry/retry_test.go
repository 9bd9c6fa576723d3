package retry_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"desktop-agent/internal/retry"
)

func TestAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // whose clock stands
		for _, tt := range []struct {
			name, value string
			want        time.Duration
		}{
			{"Retry-After", "3", 3 * time.Second},
			{"Retry-After", "0.5", 500 * time.Millisecond},
			{"Retry-After", "0", 0},
			{"Retry-After", "-1", 0},
			{"Retry-After", "NaN", 0},
			{"Retry-After", "soon", 0},
			{"Retry-After", "1e300", 24 * time.Hour},
			{"Retry-After", time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat), 90 * time.Second},
			{"Retry-After", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat), 0},
			{"Retry-After", time.Now().Add(1000 * time.Hour).UTC().Format(http.TimeFormat), 24 * time.Hour},
			{"Retry-After-Ms", "250", 250 * time.Millisecond},
			{"X", "1", 0},
		} {
			assert.Equal(t, tt.want, retry.After(http.Header{tt.name: {tt.value}}), tt.value)
		}
	})
}
