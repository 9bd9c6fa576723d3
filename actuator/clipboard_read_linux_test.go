package actuator_test

import (
	"testing"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/internal/x11"
)

func TestReadClipboard(t *testing.T) {
	d, dev := desktop(t, nil)
	_, owned, err := dev.Clipboard(limit(t))
	require.NoError(t, err)
	assert.False(t, owned, "nobody has put anything on it")

	xclip(t, d, "строка 漢字", "-i")
	var text actuator.Secret
	require.Eventually(t, func() bool { // it becomes the owner in the background
		text, owned, err = dev.Clipboard(limit(t))
		return err != nil || owned
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, err)
	assert.Equal(t, "строка 漢字", string(text))
	assert.Equal(t, "строка 漢字", xclip(t, d, "", "-o"), "reading leaves it as it is")

	ownPicture(t, d.Display())
	_, owned, err = dev.Clipboard(limit(t))
	require.ErrorContains(t, err, "no text")
	assert.True(t, owned)

	require.NoError(t, do(t, dev, actuator.SetClipboard{Text: "ours"}, nil))
	text, owned, err = dev.Clipboard(limit(t))
	require.NoError(t, err)
	assert.True(t, owned)
	assert.Equal(t, "ours", string(text))
}

// ownPicture puts something on the clipboard that has no form as text.
func ownPicture(t *testing.T, display string) {
	conn, err := x11.Dial(display)
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	own, err := xproto.NewWindowId(conn.Conn)
	require.NoError(t, err)
	xproto.CreateWindow(conn.Conn, 0, own, conn.Root, 0, 0, 1, 1, 0, xproto.WindowClassInputOnly, 0, 0, nil)
	t.Cleanup(conn.Listen(func(e xgb.Event) {
		if r, ok := e.(xproto.SelectionRequestEvent); ok {
			refusal := xproto.SelectionNotifyEvent{Time: r.Time, Requestor: r.Requestor, Selection: r.Selection, Target: r.Target}
			xproto.SendEvent(conn.Conn, false, r.Requestor, 0, string(refusal.Bytes()))
		}
	}))
	clipboard, err := conn.Atom("CLIPBOARD")
	require.NoError(t, err)
	require.NoError(t, xproto.SetSelectionOwnerChecked(conn.Conn, own, clipboard, xproto.TimeCurrentTime).Check())
}
