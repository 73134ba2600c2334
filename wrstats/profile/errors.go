package profile

import "errors"

// ErrEmptyName is returned by Rules, Group and Reset for a rule or group without a name.
var ErrEmptyName = errors.New("profile: the name of a rule or group is empty")
