package limiter

import "errors"

var (
	// ErrUnknownCondition is wrapped by what all methods return for a condition that [New] was not given.
	ErrUnknownCondition = errors.New("limiter: unknown condition")

	// ErrInvalidAmount is wrapped by what all methods return for an amount that is negative or over
	// [MaxAmount].
	ErrInvalidAmount = errors.New("limiter: invalid amount")
)
