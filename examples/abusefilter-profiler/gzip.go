package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
)

const gzipMagic = "\x1f\x8b"

// errJunk says that something follows the last member of gzip data. All that was in it was read.
var errJunk = errors.New("what follows the gzip data is no gzip")

// A gzipReader reads gzip data to its end, one member after the other, and tells what is cut off from what is
// followed by something else. As gunzip does, it passes over zero bytes at the end.
type gzipReader struct {
	raw    *bufio.Reader
	member *gzip.Reader
	whole  bool // the member was read to its end
	ended  bool // there is no other
	junk   bool // but something else
}

func newGzipReader(raw *bufio.Reader) (*gzipReader, error) {
	member, err := gzip.NewReader(raw)
	if err != nil {
		return nil, err
	}
	member.Multistream(false)
	return &gzipReader{raw: raw, member: member}, nil
}

// Read returns [io.EOF] at the end of the data also if there is junk.
func (z *gzipReader) Read(p []byte) (int, error) {
	for !z.ended {
		if z.whole {
			if err := z.next(); err != nil {
				return 0, err
			}
			continue
		}
		n, err := z.member.Read(p)
		z.whole = errors.Is(err, io.EOF)
		if n > 0 || !z.whole {
			return n, unlessEOF(err)
		}
	}
	return 0, io.EOF
}

// next begins the next member, or finds that there is none.
func (z *gzipReader) next() error {
	head, err := z.raw.Peek(len(gzipMagic))
	if err := unlessEOF(err); err != nil {
		return err
	}
	switch {
	case len(head) == 0:
		z.ended = true
		return nil
	case string(head) == gzipMagic[:len(head)]:
		err = z.member.Reset(z.raw)
		if errors.Is(err, gzip.ErrHeader) {
			z.ended, z.junk = true, true
			return nil
		}
		z.member.Multistream(false)
		z.whole = false
		return err
	}
	z.ended = true
	z.junk, err = hasMore(z.raw)
	return err
}

// hasMore reads to the end, or to a byte that is not zero, and says whether there is one.
func hasMore(r io.ByteReader) (bool, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return false, unlessEOF(err)
		}
		if b != 0 {
			return true, nil
		}
	}
}

func unlessEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
