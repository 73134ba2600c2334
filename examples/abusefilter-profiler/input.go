package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
)

// embeddedName and stdinName are how messages call the inputs that are no file.
const (
	embeddedName = "embedded edits"
	stdinName    = "standard input"
)

// An input is what edits are read from.
type input struct {
	name   string
	source io.Reader
	lines  *lineReader  // nil before start
	zipped *gzipReader  // nil: it is not gzipped
	size   int64        // bytes in all; 0: not known
	read   atomic.Int64 // bytes so far, compressed ones if they are
	close  func() error
}

// openInput opens a file, standard input ("-") or the embedded stream (""). It does not wait for what the
// input may take its time to have: start does, and the wait ends with ctx.
func openInput(ctx context.Context, path string, stdin io.Reader) (*input, error) {
	in := &input{name: path, close: func() error { return nil }}
	switch path {
	case "":
		in.name = embeddedName
		in.source = bytes.NewReader(generate())
		return in, nil
	case "-":
		in.name = stdinName
		in.source = interruptible(ctx, stdin)
		return in, nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		in.source = interruptible(ctx, &lateFile{ctx: ctx, path: path})
		return in, nil
	}
	return in, in.openRegular(path)
}

func (in *input) openRegular(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	if info, err := f.Stat(); err == nil {
		in.size = info.Size()
	}
	in.source, in.close = f, f.Close
	return nil
}

// start begins to read, through gzip if the first bytes say so.
func (in *input) start() error {
	raw := bufio.NewReaderSize(&countingReader{in.source, &in.read}, 64<<10)
	magic, err := raw.Peek(len(gzipMagic))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if string(magic) != gzipMagic {
		in.lines = newLineReader(raw)
		return nil
	}
	if in.zipped, err = newGzipReader(raw); err != nil {
		return err
	}
	in.lines = newLineReader(in.zipped)
	return nil
}

// ended says what is wrong with an input that was read to its end.
func (in *input) ended() error {
	if in.zipped != nil && in.zipped.junk {
		return in.failed(errJunk)
	}
	return nil
}

// A readError says that reading an input failed, and where.
type readError struct {
	name string
	line int // the last one that was read; 0: none
	err  error
}

func (e *readError) Error() string {
	if e.line == 0 {
		return fmt.Sprintf("read %s: %v", e.name, e.err)
	}
	return fmt.Sprintf("read %s, after line %d: %v", e.name, e.line, e.err)
}

func (e *readError) Unwrap() error { return e.err }

// failed says that reading failed, and where.
func (in *input) failed(err error) error {
	e := &readError{name: in.name, err: err}
	if in.lines != nil {
		e.line = in.lines.number
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		e.err = errors.New("the gzip data ends too early")
	}
	var path *os.PathError
	if errors.As(err, &path) {
		e.err = path.Err // the name is said already
	}
	return e
}

type countingReader struct {
	r io.Reader
	n *atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// A lateFile opens a file at the first Read, since to open a FIFO is to wait for who writes to it. It is closed
// when ctx ends.
type lateFile struct {
	ctx  context.Context
	path string
	f    *os.File
}

func (l *lateFile) Read(p []byte) (int, error) {
	if l.f == nil {
		f, err := os.Open(l.path)
		if err != nil {
			return 0, err
		}
		l.f = f
		context.AfterFunc(l.ctx, func() { f.Close() })
	}
	return l.f.Read(p)
}

// interruptible returns a reader of r whose Read ends with ctx, for an r that can block for ever. Its
// goroutine ends with r, or at the first Read of r that returns after ctx has ended.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	chunks := make(chan chunk)
	go func() {
		for {
			data := make([]byte, 64<<10)
			n, err := r.Read(data)
			select {
			case chunks <- chunk{data[:n], err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return &chunkReader{ctx: ctx, chunks: chunks}
}

type chunk struct {
	data []byte
	err  error
}

type chunkReader struct {
	ctx    context.Context
	chunks <-chan chunk
	last   chunk // what is left of it
}

func (c *chunkReader) Read(p []byte) (int, error) {
	for len(c.last.data) == 0 {
		if c.last.err != nil {
			return 0, c.last.err
		}
		select {
		case c.last = <-c.chunks:
		case <-c.ctx.Done():
			c.last.err = c.ctx.Err()
		}
	}
	n := copy(p, c.last.data)
	c.last.data = c.last.data[n:]
	return n, nil
}
