package memcached

import "bufio"

// A writeReply is what comes back on a connection that is written to.
type writeReply struct {
	kind Kind
	err  *ReplyError // of an increment that failed; else nil
	size int         // of a value, which is still to be read
}

// readWriteReply reads one reply to increments and fences; in Text each value of a fence is one, Found,
// whose data is the caller's to skip. An error means that what follows can't be told apart any more, or that
// nothing follows.
func readWriteReply(r *bufio.Reader, meta bool) (writeReply, error) {
	line, err := readLine(r)
	if err != nil {
		return writeReply{}, err
	}
	if kind := writeKind(line, meta); kind != Malformed {
		return writeReply{kind: kind}, nil
	}
	if kind := classify(line); kind != Malformed {
		return writeReply{kind: kind, err: replyError(kind, line)}, nil
	}
	_, size, ok := parseValueLine(line, "")
	if meta || !ok {
		return writeReply{}, errMalformed
	}
	return writeReply{kind: Found, size: size}, nil
}

// writeKind tells what success looks like.
func writeKind(line []byte, meta bool) Kind {
	switch {
	case meta && string(line) == "HD":
		return Created
	case meta && string(line) == "MN", !meta && string(line) == "END":
		return Fence
	}
	return Malformed
}

// skipValue reads over the data of a value and the end of its line.
func skipValue(r *bufio.Reader, size int) error {
	if _, err := r.Discard(size); err != nil {
		return err
	}
	end, err := r.Peek(2)
	if err != nil {
		return err
	}
	if string(end) != "\r\n" {
		return errMalformed
	}
	_, err = r.Discard(2)
	return err
}
