package desktopagent_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/screen/atspi"
)

// otherRoles are the functions that know more words for roles than AT-SPI's names, and why.
var otherRoles = map[string]string{
	"screen.hasRole":     "what models call an element",
	"screen.NamesWindow": "what models call a window",
}

// TestRoleNames holds that AT-SPI has the roles which code compares the role of an element
// with: what is done about another name is never done.
func TestRoleNames(t *testing.T) {
	found, other := 0, map[string]bool{}
	set := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil || !ofElements(path, file) {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			for _, literal := range rolesIn(f) {
				name, err := strconv.Unquote(literal.Value)
				require.NoError(t, err)
				if atspi.IsRole(name) || name == "" {
					found++
					continue
				}
				function := file.Name.Name + "." + f.Name.Name
				other[function] = true
				assert.Contains(t, otherRoles, function, "%s: AT-SPI has no role %q", set.Position(literal.Pos()), name)
			}
		}
		return nil
	})
	require.NoError(t, err)
	assert.Greater(t, found, 300)
	for function := range otherRoles {
		assert.True(t, other[function], "%s has no other roles", function)
	}
}

// ofElements reports whether a file is of a package that knows elements of the screen.
func ofElements(path string, file *ast.File) bool {
	return strings.HasPrefix(filepath.ToSlash(path), "screen/") || slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool {
		return i.Path.Value == `"desktop-agent/screen/atspi"` || i.Path.Value == `"desktop-agent/screen"`
	})
}

// rolesIn returns the texts that a function compares a role with: by ==, in the cases of a
// switch, or in a list that [slices.Contains] is asked of.
func rolesIn(f *ast.FuncDecl) (list []*ast.BasicLit) {
	add := func(e ast.Expr) {
		if literal, ok := e.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			list = append(list, literal)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if isRole(n.X) && (n.Op == token.EQL || n.Op == token.NEQ) {
				add(n.Y)
			}
		case *ast.SwitchStmt:
			for _, c := range n.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					if isRole(n.Tag) {
						add(e)
					}
				}
			}
		case *ast.CallExpr:
			if len(n.Args) != 2 || !isRole(n.Args[1]) {
				break
			}
			if names, ok := n.Args[0].(*ast.CompositeLit); ok {
				for _, e := range names.Elts {
					add(e)
				}
			}
		}
		return true
	})
	return list
}

// isRole reports whether an expression is a variable or a field that is called a role.
func isRole(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "role"
	case *ast.SelectorExpr:
		return strings.EqualFold(e.Sel.Name, "role")
	}
	return false
}
