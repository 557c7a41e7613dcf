// The context of a web checkout, and its form as `ply_context`. Pure; thread-safe.

package checkoutkit

/**
 * The context of a web checkout: the paywall that led to it, and the price.
 *
 * @property stripePriceId `stripe_price_id`: the id of a Stripe price, or your own name for one.
 * @property presentationId `presentation_id`: the paywall.
 * @property placementId `placement_id`: the paywall's place in the app.
 * @property abTestId `ab_test_id`
 * @property abTestVariantId `ab_test_variant_id`
 * @property stripeObjectType `stripe_object_type`: [SUBSCRIPTION] or [CHECKOUT_SESSION].
 * @property originalPlatform `original_platform`: where the customer saw the paywall. Purchasely documents `IOS`
 *   only; ask for the value of your Android app. The relay passes it on unchanged.
 */
data class WebCheckoutContext @JvmOverloads constructor(
  val stripePriceId: String,
  val presentationId: String? = null,
  val placementId: String? = null,
  val abTestId: String? = null,
  val abTestVariantId: String? = null,
  val stripeObjectType: String = SUBSCRIPTION,
  val originalPlatform: String = "ANDROID"
) {
  /**
   * The context as `ply_context`: JSON in base64, standard alphabet, padded. The result is deterministic: names
   * are sorted, null is omitted, slashes are not escaped.
   *
   * @throws RelayException.Encoding when it exceeds 16 KiB or has a text that is not Unicode.
   */
  @Throws(RelayException::class) fun plyContext(): String {
    val members = LinkedHashMap<String, Any?>()
    abTestId?.let { members["ab_test_id"] = it }
    abTestVariantId?.let { members["ab_test_variant_id"] = it }
    members["original_platform"] = originalPlatform
    placementId?.let { members["placement_id"] = it }
    presentationId?.let { members["presentation_id"] = it }
    members["stripe_object_type"] = stripeObjectType
    members["stripe_price_id"] = stripePriceId
    val json = try {
      Json.write(members).toByteArray(Charsets.UTF_8)
    } catch (invalid: IllegalArgumentException) {
      throw RelayException.Encoding(OperatorText("The context cannot be written as JSON."))
    }
    if (json.size > BYTES_MAX) {
      throw RelayException.Encoding(
        OperatorText("The context has ${json.size} bytes; the relay accepts at most $BYTES_MAX."))
    }
    return Base64Text.encode(json)
  }

  companion object {
    /** A recurring price. */
    const val SUBSCRIPTION = "subscription"
    /** A one-time price. */
    const val CHECKOUT_SESSION = "checkout_session"

    /** The relay's limit for a context, in bytes of JSON. */
    private const val BYTES_MAX = 16 * 1024

    /**
     * Creates a context from the Purchasely SDK's attributes.
     *
     * @param stripePriceId the price to buy.
     * @param attributes the SDK's built-in attributes. Four of them are read: `ply_last_presentation_displayed`,
     *   `ply_last_placement_displayed`, `ply_latest_abtest_id` and `ply_latest_abtest_variant_id`. Values that
     *   are not strings are ignored.
     * @param stripeObjectType whether it renews.
     */
    @JvmStatic @JvmOverloads fun of(
      stripePriceId: String, attributes: Map<String, Any?>, stripeObjectType: String = SUBSCRIPTION
    ): WebCheckoutContext = WebCheckoutContext(
      stripePriceId = stripePriceId,
      presentationId = attributes["ply_last_presentation_displayed"] as? String,
      placementId = attributes["ply_last_placement_displayed"] as? String,
      abTestId = attributes["ply_latest_abtest_id"] as? String,
      abTestVariantId = attributes["ply_latest_abtest_variant_id"] as? String,
      stripeObjectType = stripeObjectType)

    /**
     * Reads a `ply_context`: base64 in the standard or the URL-safe alphabet, padded or not.
     *
     * @throws RelayException.Encoding when it is invalid, or lacks price, type or platform.
     */
    @JvmStatic @Throws(RelayException::class) fun read(plyContext: String): WebCheckoutContext {
      val json = Base64Text.decode(plyContext)
      if (json == null || json.isEmpty() || json.size > BYTES_MAX) {
        throw RelayException.Encoding(OperatorText("This is not base64 of 1 to $BYTES_MAX bytes."))
      }
      val members = Json.readObject(json) ?: throw lacking()
      return WebCheckoutContext(
        stripePriceId = members["stripe_price_id"] as? String ?: throw lacking(),
        presentationId = members["presentation_id"] as? String,
        placementId = members["placement_id"] as? String,
        abTestId = members["ab_test_id"] as? String,
        abTestVariantId = members["ab_test_variant_id"] as? String,
        stripeObjectType = members["stripe_object_type"] as? String ?: throw lacking(),
        originalPlatform = members["original_platform"] as? String ?: throw lacking())
    }

    private fun lacking() = RelayException.Encoding(
      OperatorText("The base64 has no context in JSON with price, type and platform."))
  }
}
