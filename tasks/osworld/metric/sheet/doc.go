// Package sheet judges spreadsheets. [Metrics] gives the functions by the names
// that task files use:
//
//   - compare_table checks a workbook by a list of rules, all of which must hold:
//     data, printed text, styles, charts, pivot tables and so on.
//   - compare_conference_city_in_order checks a column of names.
//
// # What is read
//
// Package [desktop-agent/tasks/office/xlsx] reads workbooks. Formulas are not
// calculated, except those of conditional formats. The rule sheet_print reads text
// files, STEM-SHEET.csv, that lie beside the workbooks.
//
// Data is compared as the table library pandas reads it: a column of whole numbers
// differs from one of fractions. Everything else is compared as openpyxl, the other
// reference, shows it.
//
// # Compat
//
// The reference has defects that change scores. They are right by default, and
// as in the reference if compat is set:
//
//   - sheet_data: ignore_case has no effect; numbers in columns that also hold
//     text are not rounded.
//   - check_cell, sheet_fuzzy, sparkline: sheetId, not the relationship, selects
//     the part of the sheet; how a text is pronounced is part of it; inline text in
//     runs and truth values are absent.
//   - number_format, of cells with formulas and of dates, is absent.
//   - font_color, bgcolor, fgcolor: all colours that a theme or a palette gives
//     are equal; an automatic font colour is an error in style and absent in check_cell.
//   - style, row_props, col_props: cells, rows and columns that are there but
//     have only defaults differ from those that are not there.
//   - bgcolor, fgcolor: a colour that a fill without a pattern names counts.
//   - style, check_cell: the cells of a merged area but the first have no look.
//   - hyperlink: is an object, which equals no text, instead of where it leads.
//   - conditional formats replace the whole style, the last one winning even where
//     an earlier one ends the search, and only those of type expression are known.
//   - chart: only the first run of a title counts; width and height are always
//     15 and 7.5 cm; the anchor holds the last row twice; scatter charts all have
//     the same key; the signs $ and ' in references count; of several charts with
//     the same key the last counts.
//   - pivot_table: filter fields are not counted from the first used field, and the
//     names of the data fields are, as if they were a field; of several tables with
//     the same key the last counts.
//   - col_props: columns that the file has in one group are one, by its first.
//   - freeze: the cell is that which the pane is scrolled to; panes that are split
//     but not frozen count.
//   - data_validation: one of dv_props may be met by no validation.
//   - Sheets that are absent on both sides are equal for style, chart,
//     pivot_table, filter, row_props and col_props.
//   - sheet_print: a byte order mark is part of the text.
//   - compare_conference_city_in_order: always reads rows 2 to 22.
//
// bgcolor and fgcolor are one property: the colour of a fill that one sees, which
// files call the foreground's in a cell and the background's in a conditional
// format. merge is true for the cells of a merged area but the first.
package sheet
