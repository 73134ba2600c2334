package profile

import "errors"

// ErrEmptyName is returned by [Profiler.Profile], [Profiler.History], [Profiler.Rules], [Profiler.Group] and
// [Profiler.Reset], and by each one's At, for a rule or group without a name.
var ErrEmptyName = errors.New("profile: the name of a rule or group is empty")
