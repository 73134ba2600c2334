package wrstats

import (
	"encoding/binary"
	"slices"
	"strings"
)

// An Entity is what is counted: a filter, an address, a tenant. It is a list of components, local to
// the [Config.Keyspace] or global to all of them. Components may hold any bytes; entities are equal
// (==) when they have the same scope and the same components. The zero Entity is Local(). Making one
// of two components or fewer allocates nothing.
type Entity struct {
	first string // component
	rest  string // the second component; of three and more, all but the first, packed
	shape int    // twice the number of components, and 1 for global
}

// Local returns the entity of these components in the keyspace of the [Stats] it is used with.
func Local(components ...string) Entity { return newEntity(0, components) }

// Global returns the entity of these components that all keyspaces share.
func Global(components ...string) Entity { return newEntity(1, components) }

// newEntity returns each case as a literal: one that is filled in step by step goes through memory, and
// doubles the time of counting by name.
func newEntity(global int, components []string) Entity {
	shape := 2*len(components) + global
	switch len(components) {
	case 0:
		return Entity{shape: shape}
	case 1:
		return Entity{components[0], "", shape}
	case 2:
		return Entity{components[0], components[1], shape}
	}
	return Entity{components[0], pack(components[1:]), shape}
}

// IsGlobal reports whether the entity is shared by all keyspaces.
func (e Entity) IsGlobal() bool { return e.shape&1 == 1 }

// Components returns a copy of the entity's components.
func (e Entity) Components() []string {
	return e.appendComponents(make([]string, 0, e.shape/2))
}

func (e Entity) appendComponents(dst []string) []string {
	switch n := e.shape / 2; n {
	case 0:
		return dst
	case 1:
		return append(dst, e.first)
	case 2:
		return append(dst, e.first, e.rest)
	}
	return unpack(append(dst, e.first), e.rest)
}

// pack writes each component as its length and its bytes.
func pack(components []string) string {
	var b []byte
	for _, c := range components {
		b = binary.AppendUvarint(b, uint64(len(c)))
		b = append(b, c...)
	}
	return string(b)
}

func unpack(dst []string, packed string) []string {
	for packed != "" {
		size, n := binary.Uvarint([]byte(packed[:min(len(packed), binary.MaxVarintLen64)]))
		end := n + int(size)
		dst = append(dst, packed[n:end])
		packed = packed[end:]
	}
	return dst
}

// String returns the entity for a person to read, such as "filter:42" or "global:ip:192.0.2.7".
func (e Entity) String() string {
	components := e.Components()
	if e.IsGlobal() {
		components = slices.Insert(components, 0, "global")
	}
	return strings.Join(components, ":")
}
