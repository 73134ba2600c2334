package limiter

import "errors"

var (
	// ErrUnknownCondition is wrapped by what all methods that take a condition or ops return for one that
	// [New] was not given.
	ErrUnknownCondition = errors.New("limiter: unknown condition")

	// ErrInvalidAmount is wrapped by what all methods that take ops return for an amount that is negative or
	// over [MaxAmount].
	ErrInvalidAmount = errors.New("limiter: invalid amount")
)
