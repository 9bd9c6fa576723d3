// Package office opens the files of office programs: zip archives of parts in XML
// that refer to one another by relationships (ECMA-376 part 2: docx, xlsx, pptx), or
// have names of their own (OpenDocument, EPUB).
//
//	a, err := office.Open("gold.docx")
//	if err != nil {
//		return err
//	}
//	defer a.Close()
//	root, err := a.XML("word/document.xml")
//	for p := range root.Child("w:body").All("w:p") {
//
// What the parts mean is the business of those who read them. [Prepend] makes a copy with
// one more paragraph. Files are untrusted: entities are not expanded, and the
// sizes of the file, of its parts and of the trees that they become have limits, far above
// those of the documents of a few pages that tasks are about. Who goes beyond is
// [ErrTooLarge].
package office
