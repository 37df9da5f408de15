// ServerNames.swift — names of servers and words of theirs, which are their adapters' to know.

/// The words of servers in the text of a file of the core.
func serverWords(in text: String, of path: String) -> [String] {
    let names = text.matches(
        of: /(?i)\btoggl(?!e)\w*|\bkinto\w*|\b(cal|card)dav\w*|\bradicale|\bnextcloud|\bdhis2?\w*/)
    let words = text.matches(
        of: /(?i)time_?entries|\bworkspaces?\b|\bbuckets\b|\blast_modified|\bnext-page\b/)
    let files = text.matches(
        of: /(?i)\b(web|mod_|wsgi)dav\w*|\b(propfind|proppatch|mkcol|owncloud|getetag|multistatus)/)
    let tracked = text.matches(
        of: /(?i)tracked_?entit|\borgUnit|organisationUnit|program_?stage|enrol{1,2}ments?\b/)
    let values = text.matches(
        of: /(?i)data_?(value|element)s?(Sets?)?\b|dataSet|\bgenerateAndReserve|\bE[1-9]\d{3}\b/)
    let items = text.matches(of: /\bV(CALENDAR|EVENT|CARD)\b|\bDTSTART\b/)
    // Of a header field the name; the member of the log stands in one file.
    let fields = text.matches(of: /"(Alert|Backoff)"|\b[Ff]ields? (Alert|Backoff)\b/)
    let isOwnMember = path == "Sources/TidemarkEvents/Payloads/AskedRest.swift"
    let found = names.map(\.range) + words.map(\.range) + items.map(\.range) + files.map(\.range)
    let ofForms = tracked.map(\.range) + values.map(\.range) + fields.map(\.range)
    return (found + ofForms).map { String(text[$0]) }
        .filter { !isOwnMember || $0 != "\"Backoff\"" }
}
