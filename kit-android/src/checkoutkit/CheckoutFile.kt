// The file of the outbox: JSON, replaced as a whole. Not thread-safe; `CheckoutRecords` guards it.

package checkoutkit

import java.io.File
import java.io.FileOutputStream
import java.io.IOException

/**
 * A checkout that has begun and is not over.
 *
 * @property contextId the id with which the page was opened.
 * @property userId the user for whom it was begun.
 * @property plyContext the context, until the relay has it; then null.
 * @property begunAtMillis when the customer tapped, in milliseconds since 1970.
 * @property attempts posts that failed.
 * @property nextAttemptMillis when the next post is due, in milliseconds since 1970.
 * @property isExpired whether no payment came in time; a later one is still possible.
 */
internal data class CheckoutRecord(
  val contextId: String, val userId: String, val plyContext: String?, val begunAtMillis: Long, val attempts: Int,
  val nextAttemptMillis: Long, val isExpired: Boolean = false
)

/**
 * What the file has.
 *
 * @property clockOffsetMillis by how much the relay's clock is ahead of the device's.
 * @property claim the claim link that waits; null if there is none.
 * @property damage what of the file was lost; null when nothing was.
 */
internal class CheckoutList(
  val records: List<CheckoutRecord>, val clockOffsetMillis: Long = 0, val claim: ClaimLink? = null,
  val damage: String? = null
)

internal class CheckoutFile(private val file: File) {
  private val next = File(file.path + ".next")
  private val damaged = File(file.path + ".damaged")

  /**
   * Reads the file. One that is not the kit's is set aside as `….damaged`, for a month, and the list begins again:
   * an old checkout must not keep the app from a new one. An entry that is not the kit's is left out.
   *
   * @throws IOException when it cannot be read now. It may be whole, so it stays where it is.
   */
  @Throws(IOException::class) fun read(nowMillis: Long): CheckoutList {
    // A process that ended while it wrote: the file itself is whole.
    next.delete()
    if (damaged.exists() && nowMillis - damaged.lastModified() > KEEP_DAMAGED_MILLIS) damaged.delete()
    if (!file.exists()) return CheckoutList(emptyList())
    val list = if (file.length() > BYTES_MAX) null else list(file.readBytes())
    if (list != null) return list
    damaged.delete()
    file.renameTo(damaged)
    return CheckoutList(emptyList(), damage = "The file of checkouts was damaged, and begins again.")
  }

  /**
   * Replaces the file: the list is on the disk before this returns, and a process that ends meanwhile leaves
   * either the old or the new one.
   */
  @Throws(IOException::class) fun write(list: CheckoutList) {
    val members = mapOf(
      "version" to VERSION, "clock_offset" to list.clockOffsetMillis,
      "claim" to list.claim?.let { mapOf("app" to it.app, "token" to it.token) },
      "checkouts" to list.records.map { members(it) })
    val bytes = Json.write(members).toByteArray(Charsets.UTF_8)
    FileOutputStream(next).use { stream ->
      stream.write(bytes)
      stream.flush()
      stream.fd.sync()
    }
    // rename(2), which replaces the file in one step.
    if (!next.renameTo(file)) throw IOException("The file cannot be replaced")
  }

  fun delete() {
    next.delete()
    file.delete()
  }

  fun deleteDamaged() {
    damaged.delete()
  }

  private fun members(record: CheckoutRecord): Map<String, Any?> = mapOf(
    "context_id" to record.contextId, "user_id" to record.userId, "ply_context" to record.plyContext,
    "begun_at" to record.begunAtMillis, "attempts" to record.attempts, "next_attempt" to record.nextAttemptMillis,
    "expired" to record.isExpired)

  private fun list(bytes: ByteArray): CheckoutList? {
    val root = Json.readObject(bytes) ?: return null
    if (root["version"] != JsonNumber("$VERSION")) return null
    val entries = root["checkouts"] as? List<*> ?: return null
    val records = entries.mapNotNull { entry -> Json.asObject(entry)?.let { record(it) } }
    val lost = entries.size - records.size
    return CheckoutList(
      records, (root["clock_offset"] as? JsonNumber)?.long ?: 0, Json.asObject(root["claim"])?.let { claim(it) },
      if (lost == 0) null else "Of the file of checkouts $lost of ${entries.size} were damaged, and are left out.")
  }

  private fun claim(members: Map<String, Any?>): ClaimLink? {
    val app = members["app"] as? String ?: return null
    return ClaimLink.of(app, members["token"] as? String ?: return null)
  }

  private fun record(members: Map<String, Any?>): CheckoutRecord? {
    fun number(name: String): Long? = (members[name] as? JsonNumber)?.long
    val contextId = members["context_id"] as? String ?: return null
    val userId = members["user_id"] as? String ?: return null
    if (!ContextId.isWellFormed(contextId)) return null
    return CheckoutRecord(
      contextId, userId, members["ply_context"] as? String, number("begun_at") ?: return null,
      number("attempts")?.coerceIn(0L, 1000L)?.toInt() ?: return null, number("next_attempt") ?: return null,
      members["expired"] == true)
  }

  private companion object {
    const val VERSION = 1
    const val BYTES_MAX = 8L shl 20
    const val KEEP_DAMAGED_MILLIS = 30 * 86_400_000L
  }
}
