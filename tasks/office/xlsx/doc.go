// Package xlsx reads workbooks: .xlsx, .xlsm, .xltx and .xltm.
//
//	b, err := xlsx.Open("result.xlsx", "result")
//	if err != nil {
//		return err
//	}
//	defer b.Close()
//	s, err := b.Sheet(b.Sheets[0].Name)
//	v, err := s.Value(s.Cells[xlsx.Pos{Row: 2, Col: 1}])
//
// Values of formulas are those that the program stored when it saved; nothing is
// calculated. A [Frame] is a sheet as the table library pandas reads it, because tasks
// were written against it: the first row is the header, blank rows and columns at the
// end do not count, and each column has one type.
package xlsx
