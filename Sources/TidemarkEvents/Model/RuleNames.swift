// RuleNames.swift — short names of a model's rules, for inside; an app names them by the type that
// they are a part of.

package typealias AccessRule = CollectionModel.AccessRule
package typealias SinceRule = CollectionModel.SinceRule
package typealias PullWindow = CollectionModel.PullWindow
package typealias PlaceholderRule = CollectionModel.PlaceholderRule
package typealias RefetchRule = CollectionModel.RefetchRule
package typealias PlaceholderUse = CollectionModel.PlaceholderUse
package typealias RetentionRule = CollectionModel.RetentionRule
package typealias ChoiceRule = CollectionModel.ChoiceRule
package typealias RivalRule = CollectionModel.RivalRule
package typealias FieldMigration = CollectionModel.FieldMigration
package typealias BackoffSpan = SyncSettings.BackoffSpan
package typealias RequestLimit = SyncSettings.RequestLimit
