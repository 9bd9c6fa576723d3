package atspi

import (
	"encoding/binary"
	"math"
	"strings"
)

// An encoder appends one message to a buffer, in which it begins at start.
type encoder struct {
	b     []byte
	start int
}

func (e *encoder) align(n int) {
	for (len(e.b)-e.start)%n != 0 {
		e.b = append(e.b, 0)
	}
}

func (e *encoder) uint32(v uint32) {
	e.align(4)
	e.b = binary.LittleEndian.AppendUint32(e.b, v)
}

func (e *encoder) string(s string) {
	e.uint32(uint32(len(s)))
	e.b = append(append(e.b, s...), 0)
}

// field appends a header field that is a string or an object path.
func (e *encoder) field(code, kind byte, value string) {
	e.align(8)
	e.b = append(e.b, code, 1, kind, 0)
	e.string(value)
}

// signature appends the header field that tells the types of arguments.
func (e *encoder) signature(args []any) {
	e.align(8)
	e.b = append(e.b, fieldSignature, 1, 'g', 0, byte(len(args)))
	for _, a := range args {
		switch a.(type) {
		case string:
			e.b = append(e.b, 's')
		case int32:
			e.b = append(e.b, 'i')
		case uint32:
			e.b = append(e.b, 'u')
		}
	}
	e.b = append(e.b, 0)
}

// maxDepth is how deep values may lie in each other.
const maxDepth = 16

// A decoder reads values of a message. After the first that is wrong, err is
// set and all others are zero.
type decoder struct {
	b     []byte
	at    int
	order binary.ByteOrder
	err   error
}

// take returns the next n bytes; of the message's own memory.
func (d *decoder) take(n int) []byte {
	if d.err != nil || n < 0 || n > len(d.b)-d.at {
		d.err = errGarbled
		return make([]byte, min(max(n, 0), 8))
	}
	d.at += n
	return d.b[d.at-n : d.at]
}

func (d *decoder) align(n int) { d.take((n - d.at%n) % n) }

func (d *decoder) byte() byte { return d.take(1)[0] }

func (d *decoder) uint32() uint32 {
	d.align(4)
	return d.order.Uint32(d.take(4))
}

func (d *decoder) uint64() uint64 {
	d.align(8)
	return d.order.Uint64(d.take(8))
}

// text reads as many bytes as were told, and the zero that ends them.
func (d *decoder) text(length int) string {
	s := string(d.take(length))
	if d.take(1); d.err != nil {
		return ""
	}
	return s
}

func (d *decoder) variant(depth int) any {
	signature := d.text(int(d.byte()))
	one, rest := cutType(signature)
	if one == "" || rest != "" {
		d.err = errGarbled
		return nil
	}
	return d.value(one, depth)
}

// value reads a value of one type: structs and dictionary entries as []any,
// arrays as []uint32 or []any, and a variant as what is in it.
func (d *decoder) value(kind string, depth int) any {
	if depth > maxDepth || kind == "" {
		d.err = errGarbled
	}
	if d.err != nil {
		return nil
	}
	switch kind[0] {
	case 'y':
		return d.byte()
	case 'b':
		return d.uint32() != 0
	case 'n', 'q':
		d.align(2)
		return d.order.Uint16(d.take(2))
	case 'i':
		return int32(d.uint32())
	case 'u', 'h':
		return d.uint32()
	case 'x', 't':
		return d.uint64()
	case 'd':
		return math.Float64frombits(d.uint64())
	case 's', 'o':
		return d.text(int(d.uint32()))
	case 'g':
		return d.text(int(d.byte()))
	case 'v':
		return d.variant(depth + 1)
	case 'a':
		return d.array(kind[1:], depth)
	case '(', '{':
		d.align(8)
		if len(kind) == 2 {
			d.err = errGarbled // else a list of nothings would never end
		}
		var fields []any
		for inner := kind[1 : len(kind)-1]; inner != "" && d.err == nil; {
			var one string
			one, inner = cutType(inner)
			fields = append(fields, d.value(one, depth+1))
		}
		return fields
	}
	d.err = errGarbled
	return nil
}

func (d *decoder) array(kind string, depth int) any {
	size := int(d.uint32())
	switch kind[0] {
	case 'x', 't', 'd', '(', '{':
		d.align(8)
	}
	end := d.at + size
	if end > len(d.b) {
		d.err = errGarbled
	}
	if kind == "u" {
		var numbers []uint32
		for d.err == nil && d.at < end {
			numbers = append(numbers, d.uint32())
		}
		return numbers
	}
	var list []any
	for d.err == nil && d.at < end {
		list = append(list, d.value(kind, depth+1))
	}
	return list
}

// cutType splits the first complete type off a signature; it returns "" if
// there is none.
func cutType(signature string) (one, rest string) {
	n := 0
	for n < len(signature) && signature[n] == 'a' {
		n++
	}
	if n == len(signature) {
		return "", ""
	}
	switch signature[n] {
	case '(', '{':
		open := 0
		for i := n; i < len(signature); i++ {
			switch signature[i] {
			case '(', '{':
				open++
			case ')', '}':
				open--
			}
			if open == 0 {
				return signature[:i+1], signature[i+1:]
			}
		}
		return "", ""
	}
	if !strings.ContainsRune("ybnqiuxthdsogv", rune(signature[n])) {
		return "", ""
	}
	return signature[:n+1], signature[n+1:]
}
