// RecordedAnswers.swift — answers of real servers, which lie beside the checkout, or not at all.

package import Foundation

/// Recorded answers, in folders of JSON files.
package enum RecordedAnswers {
    /// Those of DHIS2: where `TIDEMARK_DHIS2_ANSWERS` says, or in `../shared/answers/dhis2`.
    package static let dhis2 = folder("TIDEMARK_DHIS2_ANSWERS", else: "../shared/answers/dhis2")

    /// Why tests that compare with them are skipped.
    package static let missing = "there are no recorded answers of DHIS2: TIDEMARK_DHIS2_ANSWERS"

    private static func folder(_ name: String, else path: String) -> URL? {
        if let named = ProcessInfo.processInfo.environment[name] { return URL(filePath: named) }
        let usual = Checkout.root.appending(path: path)
        return FileManager.default.fileExists(atPath: usual.path) ? usual : nil
    }

    /// The JSON files of a folder, by their paths in it without the suffix, in order.
    package static func files(in folder: URL) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted()
    }
}
