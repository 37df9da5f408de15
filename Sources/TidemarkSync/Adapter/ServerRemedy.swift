// ServerRemedy.swift — what an adapter has the engine do about a write that was not taken.

public import TidemarkEvents

/// An action of the model after which a server takes a write that it did not take before.
///
/// The engine has it done, once in a run for all writes that ask for the same, and sends these
/// writes again, once. Where it fails, or does not help, they stay as the server said.
public struct ServerRemedy: Sendable, Hashable {
    /// The entity that the action is about, by the server's id.
    public var key: EntityKey
    /// The action, one of ``CollectionModel/actions``; where the model has none of that name,
    /// nothing is done.
    public var action: String
    /// What it needs by name.
    public var parameters: [String: String]
    /// Whether the write asks for it.
    ///
    /// One that does not is only sent again, where another one asks for the same.
    public var isAsked: Bool

    /// An action about an entity.
    public init(
        _ action: String, of key: EntityKey, parameters: [String: String], isAsked: Bool = true
    ) {
        self.action = action
        self.key = key
        self.parameters = parameters
        self.isAsked = isAsked
    }
}
