package main

import (
	"bufio"
	"errors"
	"io"
)

// maxLine bounds what one line of input may hold in memory, in bytes.
const maxLine = 1 << 20

var errLongLine = errors.New("the line is longer than 1 MiB")

// A lineReader reads lines of bounded length.
type lineReader struct {
	r      *bufio.Reader
	long   []byte // a line that does not fit into r's buffer
	number int    // of the line that was read last, from 1; one that was cut off by a failure to read is none
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10)}
}

// next returns the next line without its end; it is valid until the next call. A line over maxLine is
// passed over whole, with errLongLine. A last line that was cut off by a failure to read is dropped.
func (l *lineReader) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if len(line) == 0 && err != nil {
		return nil, err
	}
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = l.rest(line)
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errLongLine) {
		return nil, err
	}
	l.number++
	if errors.Is(err, errLongLine) {
		return nil, err
	}
	return trimEnd(line), nil
}

// rest reads on after the head of a line that filled the buffer.
func (l *lineReader) rest(head []byte) ([]byte, error) {
	l.long = append(l.long[:0], head...)
	tooLong := false
	for {
		part, err := l.r.ReadSlice('\n')
		tooLong = tooLong || len(l.long)+len(part) > maxLine
		if !tooLong {
			l.long = append(l.long, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if tooLong && (err == nil || errors.Is(err, io.EOF)) {
			return nil, errLongLine
		}
		return l.long, err
	}
}

func trimEnd(line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	return line
}
