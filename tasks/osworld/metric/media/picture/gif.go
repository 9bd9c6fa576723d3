package picture

// gifColours returns the colours of the first frame of a GIF, three bytes each.
// The decoder forgets the one that stands for transparent pixels, which counts
// where alpha is dropped.
func gifColours(data []byte) []byte {
	const header, descriptor = 13, 10
	if len(data) < header {
		return nil
	}
	global := gifTable(data, header, data[10])
	at := header + len(global)
	for at+descriptor <= len(data) {
		switch data[at] {
		case '!': // an extension
			at = gifSkip(data, at+2)
		case ',': // a frame
			if local := gifTable(data, at+descriptor, data[at+descriptor-1]); local != nil {
				return local
			}
			return global
		default:
			return nil
		}
	}
	return nil
}

// gifTable is the table of colours that flags say is at a place.
func gifTable(data []byte, at int, flags byte) []byte {
	size := 3 << (flags&7 + 1)
	if flags&0x80 == 0 || at+size > len(data) {
		return nil
	}
	return data[at : at+size]
}

// gifSkip returns the place behind a chain of blocks.
func gifSkip(data []byte, at int) int {
	for at < len(data) && data[at] != 0 {
		at += int(data[at]) + 1
	}
	return at + 1
}
