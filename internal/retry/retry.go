// Package retry reads when a server wants to be asked again.
package retry

import (
	"net/http"
	"strconv"
	"time"
)

// After reads the headers that say how long to wait before the next try:
// milliseconds, seconds or a date. It is 0 if they do not say, and a day at most.
func After(h http.Header) time.Duration {
	const most = 24 * 3600 // seconds; above all deadlines
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(min(ms, most*1000) * float64(time.Millisecond))
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
		return time.Duration(min(s, most) * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		return min(max(0, time.Until(at)).Round(time.Second), most*time.Second)
	}
	return 0
}
