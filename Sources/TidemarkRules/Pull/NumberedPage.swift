// NumberedPage.swift — which page of a numbered list is requested next, so that no more is fetched
// than is needed.
//
//   rows of a list   0 … 49 | 50 … 99 | 100 … 149 | 150 … 199      pages of the usual size, 50
//   179 are needed   page 1   page 2    page 3      150 … 179      page 6 of 30, without its last
//
// Every number of rows that lie in one page of the usual size also lies in one of a smaller size,
// or of that size: the smallest one is asked for.

/// A page of a list whose pages have numbers, from 1 on, and a size that the request names.
package struct NumberedPage: Sendable, Hashable {
    package var number: Int
    package var size: Int
    /// How many of its rows are not needed, at its beginning and at its end.
    package var skipBefore: Int
    package var skipAfter: Int

    /// How many of its rows are needed.
    package var needed: Int { size - skipBefore - skipAfter }

    /// The next page of a list.
    ///
    /// - Parameters:
    ///   - already: how many rows of the list need not be fetched any more, 0 or more.
    ///   - needed: how many more rows are needed, at least 1.
    ///   - usual: the usual size of a page, at least 1.
    package init(after already: Int, needed: Int, usual: Int) {
        let boundary = (already / usual + 1) * usual
        let end = min(already + needed, boundary)
        var size = end - already
        while already / size != (end - 1) / size { size += 1 }
        number = already / size + 1
        self.size = size
        skipBefore = already - (number - 1) * size
        skipAfter = number * size - end
    }
}
