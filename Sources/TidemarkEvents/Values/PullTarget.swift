// PullTarget.swift — what one list is of.

/// What one list of a pull is of: a collection, or a part of it that has a list of its own.
///
/// Where a list goes on, how far one is that was cut off, and how often it was restarted is known
/// by target.
package struct PullTarget: Sendable, Hashable {
    /// One thing that the server is asked with.
    package struct Parameter: Sendable, Hashable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package var collection: CollectionName
    /// The part's name; empty for all of the collection.
    package var scope: String
    /// What the server is asked with for that part, in the order in which it is written.
    package var parameters: [Parameter]

    package init(
        _ collection: CollectionName, scope: String = "", parameters: [Parameter] = []
    ) {
        self.collection = collection
        self.scope = scope
        self.parameters = parameters
    }
}

extension PullTarget: ExpressibleByStringLiteral {
    /// All of a collection.
    package init(stringLiteral collection: String) { self.init(CollectionName(collection)) }
}

extension PullTarget: CustomStringConvertible {
    /// `tasks`, or `tasks/scope`.
    package var description: String {
        scope.isEmpty ? collection.rawValue : "\(collection)/\(scope)"
    }
}
