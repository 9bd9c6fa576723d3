// Package devtools speaks to the debugging port of Chrome over HTTP:
// https://chromedevtools.github.io/devtools-protocol/#endpoints.
package devtools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Ask calls an end point, such as /json/list, of a port, such as 127.0.0.1:9222.
// The answer, of which at most limit bytes are read, is decoded unless answer is
// nil.
func Ask(ctx context.Context, client *http.Client, port, method, path string, limit int64, answer any) error {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+port+path, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, limit))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %.200s", path, response.Status, text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}
