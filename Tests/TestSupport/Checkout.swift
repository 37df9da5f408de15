// Checkout.swift — where the files of this project are.

package import Foundation

/// The folders that tests read files of.
package enum Checkout {
    /// The folder with Package.swift.
    package static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    package static let scenarios = root.appending(path: "Tests/Scenarios")
}
