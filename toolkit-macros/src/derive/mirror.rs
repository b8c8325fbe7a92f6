//! The steps that change a type into its mirror.

use super::attributes::{
    attribute_arguments, default_bounds, has_any, has_serde_default, is_flattened, is_serde_or_schemars,
    refuse_helpers, serde_arguments, serde_values, struct_default,
};
use super::field::{Owner, check_names_differ, is_decoded_by_type, mirror_field};
use super::{constraining, describe};
use crate::checked::checks;
use crate::diag::Diag;
use crate::docs::Docs;
use crate::draft::check_owned;
use crate::expand::without_lints;
use crate::item::replace_self;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use std::mem;
use syn::ext::IdentExt;
use syn::{
    Attribute, Expr, Field, Fields, Generics, Item, ItemEnum, ItemStruct, Type, Variant, Visibility,
    parse_quote,
};

const UNSUPPORTED: &str =
    "`ToolParams` supports structs with named fields, structs around one value, and enums";

/// A type that becomes its mirror by [`read`](Self::read), `translate_fields`, `write_attrs` and
/// `add_defaults`.
pub(super) struct Mirror<'a> {
    pub(super) attrs: &'a mut Vec<Attribute>,
    pub(super) ident: &'a mut Ident,
    pub(super) generics: &'a mut Generics,
    /// The fields of the struct, or of each variant.
    fields: Vec<&'a mut Fields>,
    pub(super) is_struct: bool,
    /// Whether a rule renames the fields of the struct or of any variant.
    is_renamed: bool,
    /// Whether a variant takes all other values.
    has_other: bool,
    /// The functions, aliases and implementations beside the mirror.
    pub(super) helpers: Vec<TokenStream>,
    /// The field types to be checked.
    checked: Vec<Type>,
    pub(super) is_sized: bool,
    pub(super) is_described: bool,
}

impl<'a> Mirror<'a> {
    /// Returns the parts of a struct or an enum, with translated variants, and reports everything else.
    pub(super) fn read(item: &'a mut Item, diag: &mut Diag) -> Option<Self> {
        match item {
            Item::Struct(item) => Some(Self::of_struct(item, diag)),
            Item::Enum(item) => Some(Self::of_enum(item, diag)),
            other => {
                diag.error(other, UNSUPPORTED);
                None
            }
        }
    }

    fn of_struct(item: &'a mut ItemStruct, diag: &mut Diag) -> Self {
        let ItemStruct { vis, attrs, ident, generics, fields, .. } = item;
        *vis = Visibility::Inherited;
        let is_newtype = matches!(fields, Fields::Unnamed(_)) && fields.len() == 1;
        if !is_newtype && !matches!(fields, Fields::Named(_)) {
            diag.error(&ident, UNSUPPORTED);
        }
        Self {
            is_renamed: has_argument(attrs, "rename_all"),
            attrs,
            ident,
            generics,
            fields: vec![fields],
            is_struct: true,
            has_other: false,
            helpers: Vec::new(),
            checked: Vec::new(),
            is_sized: true,
            is_described: true,
        }
    }

    fn of_enum(item: &'a mut ItemEnum, diag: &mut Diag) -> Self {
        let ItemEnum { vis, attrs, ident, generics, variants, .. } = item;
        *vis = Visibility::Inherited;
        if variants.is_empty() {
            let message = "has no variants, so the model can send no value of it; add one";
            diag.error(&ident, format!("`{ident}` {message}"));
        }
        let has_other = variants.iter().any(|variant| has_argument(&variant.attrs, "other"));
        let is_renamed = has_argument(attrs, "rename_all_fields")
            || variants.iter().any(|variant| has_argument(&variant.attrs, "rename_all"));
        let content = serde_values(attrs, "content").pop();
        let named = !has_argument(attrs, "untagged");
        let mut helpers = Vec::new();
        let mut fields = Vec::with_capacity(variants.len());
        for variant in variants {
            translate_variant(variant, named, content.as_ref(), &mut helpers, diag);
            fields.push(&mut variant.fields);
        }
        Self {
            attrs,
            ident,
            generics,
            fields,
            is_struct: false,
            is_renamed,
            has_other,
            helpers,
            checked: Vec::new(),
            is_sized: true,
            is_described: true,
        }
    }

    pub(super) fn this(&self) -> TokenStream {
        let ident = &self.ident;
        let (_, ty_generics, _) = self.generics.split_for_impl();
        quote!(#ident #ty_generics)
    }

    fn all_fields(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().flat_map(|fields| fields.iter())
    }

    /// Reports names in the doc comment that no field has, and mistakes in the text.
    pub(super) fn check_docs(&self, docs: &Docs, diag: &mut Diag) {
        let mut names = Vec::new();
        for field in self.all_fields() {
            if let Some(ident) = &field.ident {
                names.push(ident.unraw().to_string());
            }
        }
        docs.check_text(diag);
        docs.check_names(self.ident, "field", &names, diag);
    }

    pub(super) fn translate_fields(&mut self, owner: &Owner<'_>, diag: &mut Diag) {
        let this = owner.this;
        for field in self.fields.iter_mut().flat_map(|fields| fields.iter_mut()) {
            field.vis = Visibility::Inherited;
            if is_decoded_by_type(&field.attrs) {
                self.is_sized &= check_owned(&field.ty, diag);
            }
            // Inside the mirror, `Self` would refer to the mirror.
            field.ty = Type::Verbatim(replace_self(field.ty.to_token_stream(), this, &|_| quote!(<#this>)));
            self.is_described &= mirror_field(field, owner, &mut self.helpers, diag);
            field.ident = field.ident.as_ref().map(without_lints);
            // Helper functions cannot use the type parameters of the mirror.
            if owner.generics.params.is_empty() && is_decoded_by_type(&field.attrs) {
                let ty = mem::replace(&mut field.ty, Type::Verbatim(TokenStream::new()));
                field.ty = parse_quote!(__Checked<#ty>);
                self.checked.push(ty);
            }
        }
        for fields in &self.fields {
            check_names_differ(fields, self.is_renamed, diag);
        }
    }

    /// Writes the derives, the attributes of the type for serde and schemars, then those of the macro.
    pub(super) fn write_attrs(&mut self, owner: &Owner<'_>) {
        let mut given = mem::take(self.attrs);
        given.retain(is_serde_or_schemars);
        let description = owner.docs.description();
        let arguments = attribute_arguments(&given, is_serde_or_schemars);
        let is_described = description.is_some() || has_any(&arguments, &["description"]);
        // Helper attributes may only follow their derive.
        self.attrs
            .push(parse_quote!(#[derive(__toolkit::serde::Deserialize, __toolkit::schemars::JsonSchema)]));
        if self.is_struct && !is_described && self.all_fields().any(|field| is_flattened(&field.attrs)) {
            self.attrs.push(parse_quote!(#[schemars(transform = __toolkit::remove_description)]));
        }
        self.attrs.extend(given);
        // The type may set `crate` for its own derives of serde and schemars.
        for (name, path) in [("serde", "__toolkit::serde"), ("schemars", "__toolkit::schemars")] {
            let arguments = attribute_arguments(self.attrs, |attr| attr.path().is_ident(name));
            if !has_any(&arguments, &["crate"]) {
                let name = format_ident!("{name}");
                self.attrs.push(parse_quote!(#[#name(crate = #path)]));
            }
        }
        describe(self.attrs, description);
        self.name_remote(owner.this);
        let is_plain = self.fields.iter().all(|fields| matches!(fields, Fields::Unit));
        if is_plain && !self.is_struct {
            if self.generics.params.is_empty() {
                let this = owner.this;
                self.helpers.push(quote!(impl __toolkit::PlainVariants for #this {}));
            }
            // With a catch-all variant, the listed values are only examples.
            if !self.has_other {
                self.attrs.push(parse_quote!(#[schemars(transform = __toolkit::constants_to_enum)]));
            }
        }
    }

    /// Names the type that the mirror decodes, and adds the types of its checked fields.
    ///
    /// serde calls the constructor of a tuple struct and of a variant, and an alias of a type has none.
    fn name_remote(&mut self, this: &TokenStream) {
        let is_tuple = self.fields.iter().any(|fields| matches!(fields, Fields::Unnamed(_)));
        if self.is_struct && !is_tuple && !self.checked.is_empty() {
            self.attrs.push(parse_quote!(#[serde(remote = "__Target")]));
            self.helpers.push(quote!(type __Target = __Checked<#this>;));
        } else {
            let remote = without_lints(self.ident).to_string();
            self.attrs.push(parse_quote!(#[serde(remote = #remote)]));
        }
        if !self.checked.is_empty() {
            self.helpers.push(checks(&self.checked));
        }
    }

    /// Adds the bounds that serde's `default` needs, and the default value of the struct. `this` is the derived type.
    pub(super) fn add_defaults(&mut self, this: &TokenStream) {
        let bounds = default_bounds(this, self.generics, self.attrs, self.all_fields());
        self.generics.make_where_clause().predicates.extend(bounds);
        if has_serde_default(self.attrs) {
            self.helpers.push(struct_default(this, self.generics));
        }
    }
}

fn has_argument(attrs: &[Attribute], argument: &str) -> bool {
    has_any(&serde_arguments(attrs), &[argument])
}

/// Translates the comments and attributes of a variant.
///
/// `named` is `true` if values contain the name of their variant; `content` is the member with the data in
/// an adjacently tagged enum.
fn translate_variant(
    variant: &mut Variant,
    named: bool,
    content: Option<&Expr>,
    helpers: &mut Vec<TokenStream>,
    diag: &mut Diag,
) {
    variant.ident = without_lints(&variant.ident);
    let docs = Docs::from_attrs(&variant.attrs);
    refuse_helpers(&variant.attrs, &["param", "tool_params"], "a variant", diag);
    variant.attrs.retain(is_serde_or_schemars);
    describe(&mut variant.attrs, docs.description());
    let aliases = serde_values(&variant.attrs, "alias");
    if named && !aliases.is_empty() && !has_argument(&variant.attrs, "untagged") {
        variant.attrs.push(parse_quote!(#[schemars(extend("x-toolkit-names" = [#(#aliases),*]))]));
    }
    if let (Fields::Unit, Some(content)) = (&variant.fields, content) {
        let no_data = constraining(helpers, &quote!(__constraints.no_data(#content);));
        variant.attrs.push(parse_quote!(#[schemars(transform = #no_data)]));
    }
}
