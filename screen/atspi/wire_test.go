package atspi

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Our calls are read by godbus.
func TestWireCalls(t *testing.T) {
	w := &wire{}
	require.EqualValues(t, 1, w.call("", "/a", "org.x.Y", "None"))
	require.EqualValues(t, 2, w.call(":1.7", "/org/a11y/0", "org.x.Y", "Some", "a\"ü", int32(-7), uint32(1<<31)))
	require.EqualValues(t, 3, w.call("", "/abc", "org.x.Yy", "Get", "", "x"))
	in := bytes.NewReader(w.out)

	m, err := dbus.DecodeMessage(in)
	require.NoError(t, err)
	assert.Equal(t, dbus.TypeMethodCall, m.Type)
	assert.Equal(t, dbus.ObjectPath("/a"), m.Headers[dbus.FieldPath].Value())
	assert.Equal(t, "org.x.Y", m.Headers[dbus.FieldInterface].Value())
	assert.Equal(t, "None", m.Headers[dbus.FieldMember].Value())
	assert.NotContains(t, m.Headers, dbus.FieldDestination)
	assert.EqualValues(t, 1, m.Serial())
	assert.Empty(t, m.Body)

	m, err = dbus.DecodeMessage(in)
	require.NoError(t, err)
	assert.Equal(t, ":1.7", m.Headers[dbus.FieldDestination].Value())
	assert.Equal(t, []any{"a\"ü", int32(-7), uint32(1 << 31)}, m.Body)
	m, err = dbus.DecodeMessage(in)
	require.NoError(t, err)
	assert.Equal(t, []any{"", "x"}, m.Body)
	assert.Zero(t, in.Len())
}

// reply encodes an answer as godbus does.
func reply(t testing.TB, order binary.ByteOrder, kind dbus.Type, serial uint32, body ...any) []byte {
	t.Helper()
	m := &dbus.Message{Type: kind, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldReplySerial: dbus.MakeVariant(serial),
		dbus.FieldSender:      dbus.MakeVariant(":1.23"),
	}, Body: body}
	if kind == dbus.TypeError {
		m.Headers[dbus.FieldErrorName] = dbus.MakeVariant("org.x.Failed")
	}
	if len(body) > 0 {
		m.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(body...))
	}
	var b bytes.Buffer
	require.NoError(t, m.EncodeTo(&b, order))
	out := b.Bytes()
	order.PutUint32(out[8:], 99) // a message must have a number
	return out
}

type object2 struct {
	Name string
	Path dbus.ObjectPath
}

// Its answers are read by us, in both byte orders.
func TestWireAnswers(t *testing.T) {
	for _, tt := range []struct {
		name string
		body []any
		want []any
	}{
		{"nothing", nil, nil},
		{"states", []any{[]uint32{1, 1 << 31}}, []any{[]uint32{1, 1 << 31}}},
		{"no states", []any{[]uint32{}}, []any{[]uint32(nil)}},
		{"role", []any{uint32(61)}, []any{uint32(61)}},
		{"name", []any{dbus.MakeVariant("Datei ö")}, []any{"Datei ö"}},
		{"count", []any{dbus.MakeVariant(int32(-1))}, []any{int32(-1)}},
		{"value", []any{dbus.MakeVariant(12.5)}, []any{12.5}},
		{"a variant in a variant", []any{dbus.MakeVariant(dbus.MakeVariant(true))}, []any{true}},
		{"object", []any{object2{":1.2", "/a"}}, []any{[]any{":1.2", "/a"}}},
		{"objects", []any{[]object2{{":1.2", "/a"}, {"", "/b/c"}}}, []any{[]any{[]any{":1.2", "/a"}, []any{"", "/b/c"}}}},
		{"no objects", []any{[]object2{}}, []any{[]any(nil)}},
		{"box", []any{struct{ X, Y, W, H int32 }{1, -2, 3, 4}}, []any{[]any{int32(1), int32(-2), int32(3), int32(4)}}},
		{"cell", []any{true, int32(3), int32(4), int32(1), int32(1), false}, []any{true, int32(3), int32(4), int32(1), int32(1), false}},
		{"others", []any{byte(7), int16(-1), uint64(9), dbus.Signature{}, map[string]string{"k": "v"}},
			[]any{byte(7), uint16(0xffff), uint64(9), "", []any{[]any{"k", "v"}}}},
	} {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			t.Run(tt.name+" "+order.String(), func(t *testing.T) {
				stream := append(reply(t, order, dbus.TypeMethodReply, 5, tt.body...),
					reply(t, order, dbus.TypeError, 6, "it failed")...)
				w := &wire{in: bufio.NewReader(bytes.NewReader(stream))}
				serial, body, err := w.message()
				require.NoError(t, err)
				assert.EqualValues(t, 5, serial)
				assert.Equal(t, tt.want, body)
				serial, body, err = w.message()
				require.NoError(t, err)
				assert.EqualValues(t, 6, serial)
				assert.Nil(t, body, "an error holds nothing")
				_, _, err = w.message()
				assert.ErrorIs(t, err, io.EOF)
			})
		}
	}
}

// Whatever a program sends, it cannot make us crash, or take memory at will.
func FuzzWireMessage(f *testing.F) {
	f.Add(reply(f, binary.LittleEndian, dbus.TypeMethodReply, 5, []object2{{":1.2", "/a"}}))
	f.Add(reply(f, binary.BigEndian, dbus.TypeMethodReply, 5, dbus.MakeVariant([]uint32{1, 2})))
	f.Add([]byte("l\x02\x00\x01\xff\xff\xff\x00\x01\x00\x00\x00\x08\x00\x00\x00\x08\x01g\x00\x03aau\x00"))
	f.Add([]byte("l\x02\x00\x01\x04\x00\x00\x00\x01\x00\x00\x00\x07\x00\x00\x00\x08\x01g\x00\x01v\x00\x00\x01v\x00\x01"))
	f.Add([]byte("l\x02\x00\x01\x10\x00\x00\x00\x01\x00\x00\x00\x08\x00\x00\x00\x08\x01g\x00\x03a()\x00\x10\x00\x00\x00            "))
	f.Fuzz(func(t *testing.T, data []byte) {
		w := &wire{in: bufio.NewReader(bytes.NewReader(data))}
		for {
			if _, _, err := w.message(); err != nil {
				return
			}
		}
	})
}

func TestWireGarbled(t *testing.T) {
	good := reply(t, binary.LittleEndian, dbus.TypeMethodReply, 5, []object2{{":1.2", "/a"}})
	for name, spoil := range map[string]func([]byte){
		"byte order":   func(b []byte) { b[0] = 'x' },
		"body length":  func(b []byte) { binary.LittleEndian.PutUint32(b[4:], maxMessage+1) },
		"field length": func(b []byte) { binary.LittleEndian.PutUint32(b[12:], 1<<31) },
		"array length": func(b []byte) { b[len(b)-27] = 0xff },
	} {
		t.Run(name, func(t *testing.T) {
			b := bytes.Clone(good)
			spoil(b)
			w := &wire{in: bufio.NewReader(bytes.NewReader(b))}
			_, _, err := w.message()
			require.Error(t, err)
		})
	}
	for cut := range len(good) {
		w := &wire{in: bufio.NewReader(bytes.NewReader(good[:cut]))}
		_, _, err := w.message()
		require.Error(t, err)
	}
}

func TestSocketPath(t *testing.T) {
	for address, want := range map[string]string{
		"unix:path=/run/bus_0,guid=0a1b":           "/run/bus_0",
		"unix:guid=0a1b,path=/run/a%2cb":           "/run/a,b",
		"unix:abstract=/tmp/x":                     "@/tmp/x",
		"tcp:host=localhost,port=1;unix:path=/x":   "/x",
		"tcp:host=localhost,port=1":                "",
		"unix:tmpdir=/tmp":                         "",
		"":                                         "",
		"unix:path=%zz;unix:path=/second,guid=123": "/second",
	} {
		path, err := socketPath(address)
		assert.Equal(t, want, path, address)
		assert.Equal(t, want == "", err != nil, address)
	}
}

// A server that does not know us, and one that says nothing at all.
func TestOpenWireRefused(t *testing.T) {
	for name, answer := range map[string]string{"rejected": "REJECTED EXTERNAL\r\n", "closed": ""} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir() + "/s"
			l, err := net.Listen("unix", path)
			require.NoError(t, err)
			defer l.Close()
			go func() {
				c, err := l.Accept()
				if err != nil {
					return
				}
				bufio.NewReader(c).ReadString('\n')
				io.Copy(c, strings.NewReader(answer))
				c.Close()
			}()
			_, err = openWire(t.Context(), "unix:path="+path, true, silence{})
			require.Error(t, err)
		})
	}
}

func TestKey(t *testing.T) {
	for _, r := range []reference{{":1.7", usualPath + "42"}, {":1.7", "/org/gtk/app/a11y/1234_5"}, {":1.20", usualPath + "root"}} {
		got, ok := referenceOf(r.key())
		require.True(t, ok)
		require.Equal(t, r, got, r.key())
	}
	for _, bad := range []string{"", "#4", ":1.7", ":1.7/org/a11y/atspi/null"} {
		_, ok := referenceOf(bad)
		require.False(t, ok, bad)
	}
}
