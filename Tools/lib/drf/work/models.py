"""Projects, and the items in them."""

from django.contrib.auth.models import User
from django.db import models


class Project(models.Model):
    owner = models.ForeignKey(User, related_name="projects", on_delete=models.CASCADE)
    members = models.ManyToManyField(User, related_name="shared_projects", blank=True)
    name = models.CharField(max_length=100)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["id"]


class Item(models.Model):
    owner = models.ForeignKey(User, related_name="items", on_delete=models.CASCADE)
    project = models.ForeignKey(
        Project, related_name="items", null=True, blank=True, on_delete=models.CASCADE
    )
    title = models.CharField(max_length=20)
    notes = models.TextField(blank=True)
    done = models.BooleanField(default=False)
    price = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True)
    starts_at = models.DateTimeField(null=True, blank=True)
    ends_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
