package storetest

import "errors"

var (
	errShrunk   = errors.New("a counter read less than before")
	errPanicked = errors.New("a call panicked")
)
