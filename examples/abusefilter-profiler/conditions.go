package main

import (
	"slices"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
)

// countCall is the function that counts one condition. It is no identifier, so that no rule can call it.
const countCall = "+1"

// conditionOperators are the operators that count: comparisons and matches, not arithmetic, not logic.
var conditionOperators = []string{
	"==", "!=", "<", "<=", ">", ">=", "in", "contains", "startsWith", "endsWith", "matches",
}

// A conditionCounter makes a program count the conditions it evaluates as AbuseFilter does: each
// comparison, match and function call, and none that was passed over by "and", "or", "??" or "?:".
//
// What is evaluated whenever the program runs needs no counting at run time: it is the number always.
// Each part that may be passed over, or that runs once per element, is preceded by one call of countCall
// for each condition that is evaluated whenever the part is. A part in which a rule fails counts whole.
type conditionCounter struct {
	always int // so far in the walk; at its end, of the whole program
	after  map[ast.Node]int
	ours   map[ast.Node]bool // parts that count already
}

func newConditionCounter() *conditionCounter {
	return &conditionCounter{after: map[ast.Node]int{}, ours: map[ast.Node]bool{}}
}

// options returns what makes a program count into *n.
func (c *conditionCounter) options(n *int) []expr.Option {
	count := func(...any) (any, error) {
		*n++
		return nil, nil
	}
	return []expr.Option{expr.Patch(c), expr.Function(countCall, count)}
}

// Visit implements [ast.Visitor]; the walk comes to a node after all that is under it, left to right.
func (c *conditionCounter) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.BinaryNode:
		if slices.Contains([]string{"and", "&&", "or", "||", "??"}, n.Operator) {
			c.part(n.Left, &n.Right)
		}
	case *ast.ConditionalNode:
		yes := n.Exp1
		c.part(n.Cond, &n.Exp1)
		c.part(yes, &n.Exp2)
	case *ast.BuiltinNode:
		c.predicates(n)
	}
	if isCondition(*node) {
		c.always++
	}
	c.after[*node] = c.always
}

// predicates makes parts of the predicates of any, all, filter and their like.
func (c *conditionCounter) predicates(call *ast.BuiltinNode) {
	for i, arg := range call.Arguments {
		if p, ok := arg.(*ast.PredicateNode); ok && i > 0 {
			c.part(call.Arguments[i-1], &p.Node)
		}
	}
}

// part takes the conditions of a node out of the number always, and makes them count when it is
// evaluated. before is the node whose visit came before those of the part.
func (c *conditionCounter) part(before ast.Node, node *ast.Node) {
	conditions := c.after[*node] - c.after[before]
	c.always -= conditions
	if conditions == 0 || c.ours[*node] { // a chain of comparisons shares nodes, which are visited twice
		return
	}
	counted := &ast.SequenceNode{}
	for range conditions {
		counted.Nodes = append(counted.Nodes, &ast.CallNode{Callee: &ast.IdentifierNode{Value: countCall}})
	}
	counted.Nodes = append(counted.Nodes, *node)
	c.ours[counted] = true
	ast.Patch(node, counted)
}

func isCondition(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.BinaryNode:
		return slices.Contains(conditionOperators, n.Operator)
	case *ast.CallNode, *ast.BuiltinNode:
		return true
	}
	return false
}
